"""The report: one HTML file that needs no other file and no network."""

from __future__ import annotations

import gzip
import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, TemplateError
from markupsafe import Markup

from dbdyno.errors import RunFailed
from dbdyno.report.answer import answer
from dbdyno.report.core import plotly, words
from dbdyno.report.core.documents import RunDocument
from dbdyno.report.core.loads import is_open, share_of
from dbdyno.report.core.page import Page
from dbdyno.report.core.recordings import Recordings, recordings_of
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.templating import TEMPLATES, templates, unbroken
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.document import document
from dbdyno.report.sections import analyses, capacity, copies, ranking
from dbdyno.report.sections.environment import as_text
from dbdyno.report.sections.order import FIRST, SECTIONS
from dbdyno.results.model import Run
from dbdyno.results.profile import is_profiled, read_profile


def write_report(run: Run, path: Path) -> None:
    """Write the report of `run` to `path`, whole or not at all.

    Raises:
        RunFailed: it cannot be written, for lack of space or of permission.
    """
    write_page(page_of(run), path)


def page_of(run: Run, changed: Callable[[RunDocument], RunDocument] = lambda same: same) -> str:
    """Return the report of `run`.

    Args:
        changed: returns the document that is shown instead of the run's, such as one without passwords.
    """
    stacks = flame_graphs(run.path), without_names(run.path), counted(run.path)
    return render(changed(document(run)), recordings_of(run), *stacks)


def write_page(page: str, path: Path) -> None:
    """Write a page whole or not at all; raises RunFailed as `write_report`."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(page, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise RunFailed(f"{path}: the page cannot be written: {error.strerror}") from error


def flame_graphs(folder: Path) -> list[tuple[str, str]]:
    """Return the flame graphs of a run, as (trial and name, the SVG)."""
    files = sorted(folder.glob("trials/*/profile/*.svg"))
    return [(f"{path.parent.parent.name}: {path.stem}", path.read_text(encoding="utf-8")) for path in files]


def without_names(folder: Path) -> list[tuple[str, str | None]]:
    """Return the files whose functions have no names in a run's stacks, each with the package that has the names."""
    packages: dict[str, str | None] = {}
    for profiled in filter(is_profiled, sorted(folder.glob("trials/*/profile"))):
        for stacks in read_profile(profiled)["stacks"].values():
            packages |= {unnamed["file"]: unnamed["package"] for unnamed in stacks.get("unnamed", ())}
    return sorted(packages.items())


def counted(folder: Path) -> list[tuple[str, str]]:
    """Return what processors counted in a run's profiles: trial and process, and the events of a transaction."""
    lines = []
    for profiled in filter(is_profiled, sorted(folder.glob("trials/*/profile"))):
        for process, events in read_profile(profiled).get("counters", {}).items():
            known = {name.replace("_", " "): count for name, count in events.items() if count is not None}
            said = ", ".join(f"{words.significant(count)} {name}" for name, count in known.items())
            lines += [(f"{profiled.parent.name}: {process}", said)] if said else []
    return lines


def environment_of_templates() -> Environment:
    """Return the environment of templates, with the filters that write figures."""
    environment = templates()
    environment.filters |= {
        "significant": words.significant,
        "whole": words.whole,
        "text": as_text,
        "bytes": words.short_bytes,
        "percent": words.percent,
        "unbroken": unbroken,
    }
    return environment


def render(
    run_document: RunDocument,
    recordings: Recordings | None = None,
    flames: Sequence[tuple[str, str]] = (),
    nameless: Sequence[tuple[str, str | None]] = (),
    counters: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the page of a run's document, as `dbdyno.report.document.document` returns it.

    Labels, settings, errors and anything a server said are untrusted text: the templates escape all of it, and what
    the script reads is base64.

    Args:
        recordings: data for the plots over time; without it they show throughput only.
        flames: names and SVGs of flame graphs; a frame shows them that cannot touch the page.
        nameless: files whose functions have no names in the flame graphs, and the packages that have the names.
        counters: of processors, as `counted` returns them.
    """
    page = Page(run_document, recordings or Recordings(), flames, nameless, counters, clients_loaded(run_document))
    first, others = parts_of(page, FIRST), parts_of(page, SECTIONS)
    environment = environment_of_templates()
    figures = {id: figure for _, part in others for id, figure in part.figures.items()}
    later = {id: content for _, part in others for id, content in part.later.items()}
    return rendered(
        environment,
        "report.html.j2",
        document=run_document,
        clients_loaded=page.clients_loaded,
        when=words.when(run_document["started_unix_s"]),
        latency=capacity.sentence(run_document),
        answer=answer(run_document),
        limits=ranking.limits(page.series),
        scope=_scope(run_document),
        first=[_filled(environment, page, *pair) for pair in first],
        parts=[_filled(environment, page, *pair) for pair in others],
        data=packed({"figures": figures}),
        later=[(id, packed(part)) for id, part in later.items()],
        has_plots=bool(figures),
        style=inlined("page.css") + inlined("report.css"),
        script=inlined("plots.js") + inlined("report.js"),
        theme=inlined("theme.js"),
        plotly=plotly.packed_script(),
    )


def clients_loaded(run_document: RunDocument) -> bool:
    """Return whether clients generated the load, and not single queries or copy tools."""
    return not (copies.copied(run_document["trials"]) or analyses.analysed(run_document["trials"]))


def parts_of(page: Page, sections: Sequence[Section]) -> list[tuple[Section, Part]]:
    """Return the sections that apply to a run, each with its part."""
    return [(section, part) for section in sections if (part := section.part(page)) is not None]


def _filled(environment: Environment, page: Page, section: Section, part: Part) -> Markup:
    return Markup(rendered(environment, section.template, **{**page.context, **part.content}))


def rendered(environment: Environment, template: str, **content: Any) -> str:
    """Return a filled template; raises ValueError if its content lacks a name."""
    try:
        return environment.get_template(template).render(**content)
    except TemplateError as error:
        raise ValueError(f"{template}: {error}") from error


def packed(value: Any) -> str:
    """Return JSON as gzip in base64: the data of single loads and trials is most of a long run's page."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    # Without a time, so that the same run has the same page.
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def inlined(name: str) -> Markup:
    """Return a file of the templates as part of a page."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _scope(run_document: RunDocument) -> str:
    """Return what was measured, in one sentence."""
    trials = [trial for trial in run_document["trials"] if trial["system"] is not None]
    if not trials:
        return "No trial was reached."
    size = _size(trials)
    clients, seconds = (
        _span(trial["clients"] or None for trial in trials),
        _span(round(trial["seconds"]) for trial in trials),
    )
    complete = sum(trial["state"] == "complete" for trial in run_document["trials"])
    workloads = ", ".join(dict.fromkeys(str(trial["workload"]) for trial in trials))
    systems = len(dict.fromkeys(trial["label"] for trial in trials))
    noun = "client" if clients == "1" else "clients"
    what = f"{workloads} on {systems} system{'s' if systems > 1 else ''}: {size}"
    if analyses.analysed(run_document["trials"]):
        return f"{what}. {complete} of {len(run_document['trials'])} trials are complete."
    return (
        f"{what}, {_loop(trials)} of {clients} {noun}, {seconds} s measured a trial after the warm-up. "
        f"{complete} of {len(run_document['trials'])} trials are complete."
    )


def _size(trials: list[TrialDocument]) -> str:
    """Return the `rows` of the trials in words; for tpcc they are warehouses."""
    rows = _span(trial["rows"] for trial in trials)
    if any(trial["workload"] != "tpcc" for trial in trials):
        return f"{rows} rows a table"
    return "1 warehouse" if rows == "1" else f"{rows} warehouses"


def _loop(trials: list[TrialDocument]) -> str:
    if not is_open(trials):
        paces = (trial.get("pace") for trial in trials)
        thinks = dict.fromkeys(pace["think_time"] for pace in paces if pace and pace["think_time"])
        pauses = "".join(f", clients think {think_time}" for think_time in thinks)
        grouped = any(trial.get("client_groups") for trial in trials)
        return "groups of clients" if grouped else f"closed loop{pauses}"
    arrivals = " and ".join(dict.fromkeys(trial["rate"]["arrivals"] for trial in trials if trial["rate"]))
    closed_first = "closed loop, and below its capacity " if any(map(share_of, trials)) else ""
    return f"{closed_first}open loop ({arrivals} arrivals)"


def _span(values: Iterator[int | None]) -> str:
    known = sorted({value for value in values if value is not None})
    if not known:
        return words.UNKNOWN
    return f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"
