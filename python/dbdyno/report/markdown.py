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
    """Return what the report of a run begins with, as GitHub-flavoured Markdown that ends with a newline."""
    return render(document(run, timelines=False))


def render(shown: RunDocument) -> str:
    """Return the Markdown of what `dbdyno.report.document.document` returned.

    Names, errors and anything a server said are untrusted text: none of it becomes mark-up.
    """
    page = Page(shown, clients_loaded=clients_loaded(shown))
    blocks = [f"### {_escaped(shown['experiment'] or shown['run'])}", _escaped(shown["question"] or "")]
    for first, *others in answer(shown):
        blocks.append(" ".join([f"**{_escaped(first)}**", *map(_escaped, others)]))
    if page.clients_loaded and page.series:
        blocks += [*map(_escaped, [limits(page.series)]), *_ranking(page), *_every_load(page)]
    if careful := [f"- {_escaped(sentence)}" for sentence in unfair(shown)]:
        blocks.append("\n".join(["What would be unfair to conclude:", "", *careful]))
    blocks += _missing(shown)
    blocks += _where(shown)
    return "\n\n".join(filter(None, blocks)) + "\n"


def _ranking(page: Page) -> Iterator[str]:
    """A table for each group of systems, each system at its own best load."""
    groups = ranking(page.shown, page.series)
    if not groups:
        return
    unit, length_us = words.latency_unit(page.trials)
    for group in groups:
        if group.title:
            yield f"{_escaped(group.title)}:"
        yield _table(*_ranking_rows(page, group, unit, length_us))
    trials = [row.trial for group in groups for row in group.rows]
    yield _escaped(f"Each system stands at its own best load. Latency: {time_label(trials)}.")


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
                _code(row.series.name),
                _escaped(row.trial["durability"] or "unknown"),
                f"{least}{words.significant(row.trial['throughput_per_s'])}",
                _escaped(page.load_labels[row.load]),
                *([_escaped(f"{mark} {row.ratio}".strip() or ("1" if row.verdict == "leader" else "–"))] * ratios),
                *(words.significant(None if time is None else time / length_us) for time in times),
                _escaped(row.limit),
            ]
        )
    return headings, rows


def _every_load(page: Page) -> Iterator[str]:
    """Throughput at every load, folded: it is as wide as the experiment has loads."""
    if len(page.load_labels) < 2:
        return
    headings = ["offered" if page.context["open"] else "clients", *map(_escaped, page.load_labels.values())]
    rows = [
        [_code(one.name), *(words.UNKNOWN if entry is None else entry.throughput for entry in entries)]
        for one, entries in matrix(page.shown, page.series, list(page.load_labels))
    ]
    table = _table(headings, rows)
    yield f"<details><summary>Transactions/s at every load</summary>\n\n{table}\n\n</details>"


def _missing(shown: RunDocument) -> Iterator[str]:
    if missing := [f"- {_code(name)}: {_escaped(why)}" for name, why in words.not_complete(shown)]:
        yield "\n".join(["Not measured, or not to its end:", "", *missing])


def _where(shown: RunDocument) -> Iterator[str]:
    """On what it was measured, with which versions, and the command that repeats it."""
    host = shown["environment"]
    known = (host.get("cpu_model"), f"{host['cpus']} processors" if host.get("cpus") else None, host.get("kernel"))
    about = ", ".join(str(one) for one in known if one)
    said = [f"Host: {about}" if about else "", f"Versions: {found}" if (found := _versions(shown)) else ""]
    yield ". ".join(_escaped(one) for one in said if one) + ("." if any(said) else "")
    if command := shown["command"]:
        yield f"```sh\n{command.replace('```', '')}\n```"


def _versions(shown: RunDocument) -> str:
    return versions(shown["fairness"]["systems"])


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns are aligned to the right, but for the first."""
    lines = [headings, [":--", *["--:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    """Text that Markdown takes as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def _code(text: str) -> str:
    """A name in the type of code; a bar would begin another cell even there."""
    return f"`{' '.join(str(text).replace('`', chr(39)).split())}`".replace("|", "\\|")
