"""A run as Markdown, for an issue, a pull request or a chat: the answer, its tables, and how to repeat it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dbdyno.report.answer import answer
from dbdyno.report.core import words
from dbdyno.report.core.documents import RunDocument
from dbdyno.report.core.loads import time_label
from dbdyno.report.core.page import Page
from dbdyno.report.document import document
from dbdyno.report.html import clients_loaded
from dbdyno.report.sections.fairness import versions
from dbdyno.report.sections.ranking import MARKS, Group, limits, matrix, ranking
from dbdyno.report.sections.unfair import unfair
from dbdyno.results.model import Run

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")
_LATENCIES = ("p50", "p99")


def markdown(run: Run) -> str:
    """Return the first part of a run's report as GitHub-flavoured Markdown that ends with a newline."""
    return render(document(run, timelines=False))


def render(run_document: RunDocument) -> str:
    """Return the Markdown of a run's document, as `dbdyno.report.document.document` returns it.

    Names, errors and anything a server said are untrusted text: none of it becomes mark-up.
    """
    page = Page(run_document, clients_loaded=clients_loaded(run_document))
    title = escaped(run_document["experiment"] or run_document["run"])
    blocks = [f"### {title}", escaped(run_document["question"] or "")]
    for first, *others in answer(run_document):
        blocks.append(" ".join([f"**{escaped(first)}**", *map(escaped, others)]))
    if page.clients_loaded and page.series:
        blocks += [*map(escaped, [limits(page.series)]), *_ranking(page), *_every_load(page)]
    if careful := [f"- {escaped(sentence)}" for sentence in unfair(run_document)]:
        blocks.append("\n".join(["What would be unfair to conclude:", "", *careful]))
    blocks += _missing(run_document)
    blocks += _where(run_document)
    return "\n\n".join(filter(None, blocks)) + "\n"


def _ranking(page: Page) -> Iterator[str]:
    """Yield a table for each group of systems, each system at its own best load."""
    groups = ranking(page.document, page.series)
    if not groups:
        return
    unit, length_us = words.latency_unit(page.trials)
    for group in groups:
        if group.title:
            yield f"{escaped(group.title)}:"
        yield table(*_ranking_rows(page, group, unit, length_us))
    trials = [row.trial for group in groups for row in group.rows]
    yield escaped(f"Each system is shown at its own best load. Latency: {time_label(trials)}.")


def _ranking_rows(page: Page, group: Group, unit: str, length_us: float) -> tuple[list[str], list[list[str]]]:
    of_time = page.context["of_time"]
    ratios = any(row.ratio for row in group.rows)
    headings = ["system", "durability", "transactions/s", "at " + ("offered" if page.context["open"] else "clients")]
    headings += ["ratio [95 %]"] * ratios + [f"{key}, {unit}" for key in _LATENCIES] + ["limited by"]
    rows = []
    for row in group.rows:
        times = [of_time(row.trial["transaction"])[key] for key in _LATENCIES]
        least = "≥ " if row.trial["client_limited"] else ""
        mark = MARKS.get(row.verdict, "")
        rows.append(
            [
                code(row.series.name),
                escaped(row.trial["durability"] or "unknown"),
                f"{least}{words.significant(row.trial['throughput_per_s'])}",
                escaped(page.load_labels[row.load]),
                *([escaped(f"{mark} {row.ratio}".strip() or ("1" if row.verdict == "leader" else "–"))] * ratios),
                *(words.significant(None if time is None else time / length_us) for time in times),
                escaped(row.limit),
            ]
        )
    return headings, rows


def _every_load(page: Page) -> Iterator[str]:
    """Yield throughput at every load, folded: it is as wide as the experiment has loads."""
    if len(page.load_labels) < 2:
        return
    headings = ["offered" if page.context["open"] else "clients", *map(escaped, page.load_labels.values())]
    rows = [
        [code(series.name), *(words.UNKNOWN if entry is None else entry.throughput for entry in entries)]
        for series, entries in matrix(page.document, page.series, list(page.load_labels))
    ]
    summary = "<details><summary>Transactions/s at every load</summary>"
    yield f"{summary}\n\n{table(headings, rows)}\n\n</details>"


def _missing(run_document: RunDocument) -> Iterator[str]:
    if missing := [f"- {code(name)}: {escaped(why)}" for name, why in words.not_complete(run_document)]:
        yield "\n".join(["Not measured, or not to its end:", "", *missing])


def _where(run_document: RunDocument) -> Iterator[str]:
    """Yield the host, the versions, and the command that repeats the run."""
    host = run_document["environment"]
    known = (host.get("cpu_model"), f"{host['cpus']} processors" if host.get("cpus") else None, host.get("kernel"))
    about = ", ".join(str(fact) for fact in known if fact)
    said = [f"Host: {about}" if about else "", f"Versions: {named}" if (named := _versions(run_document)) else ""]
    yield ". ".join(escaped(text) for text in said if text) + ("." if any(said) else "")
    if command := run_document["command"]:
        yield f"```sh\n{command.replace('```', '')}\n```"


def _versions(run_document: RunDocument) -> str:
    return versions(run_document["fairness"]["systems"])


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; all columns but the first are aligned to the right."""
    lines = [headings, [":--", *["--:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """Return text with the special characters of Markdown escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def code(text: str) -> str:
    """Return a name as code; a bar is escaped, because it would begin another cell even there."""
    return f"`{' '.join(str(text).replace('`', chr(39)).split())}`".replace("|", "\\|")
