"""A page of many runs: the question, time, host and headline of each, and a link to its report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from dbdyno.errors import UserError
from dbdyno.report.answer import brief
from dbdyno.report.core import words
from dbdyno.report.core.documents import RunDocument
from dbdyno.report.document import document
from dbdyno.report.html import environment_of_templates, inlined, write_page
from dbdyno.results.environment import Environment
from dbdyno.results.foreign_content import understood
from dbdyno.results.read import read_run


@dataclass(frozen=True, slots=True)
class Entry:
    """One folder. `broken`: why it cannot be shown, else empty. `link`: its report's, or empty if there is none."""

    name: str
    link: str
    broken: str
    experiment: str = ""
    question: str = ""
    when: str = ""
    started_unix_s: float = 0.0
    host: str = ""
    dbdyno: str = ""
    state: str = ""
    sentence: str = ""
    limits: str = ""
    trials: str = ""
    systems: str = ""
    workloads: str = ""


def write_index(folder: Path) -> Path:
    """Write `index.html` of the runs in `folder` beside them, the newest first. Returns the file.

    Raises:
        UserError: there is no run in `folder`.
        RunFailed: the page cannot be written.
    """
    entries = [entry_of(file.parent) for file in sorted(folder.glob("*/run.json"))]
    if not entries:
        raise UserError(f"{folder}: holds no run; runs are folders with a run.json")
    path = folder / "index.html"
    write_page(render_index(folder.resolve().name, entries), path)
    return path


def entry_of(run: Path) -> Entry:
    """Return the entry of a run's folder, also if it cannot be read."""
    link = f"{quote(run.name)}/report.html" if (run / "report.html").is_file() else ""
    try:
        with understood(run):
            return described(run.name, document(read_run(run), timelines=False), link)
    except UserError as error:
        return broken(run, error, link)


def broken(run: Path, error: Exception, link: str = "") -> Entry:
    """Return the entry of a folder that cannot be read."""
    return Entry(run.name, link, str(error).replace(f"{run}/", ""))


def described(name: str, run_document: RunDocument, link: str) -> Entry:
    """Return the entry of a run by its document."""
    labels, workloads = (
        dict.fromkeys(str(trial[key]) for trial in run_document["trials"] if trial["system"] is not None)
        for key in ("label", "workload")
    )
    complete = sum(trial["state"] == "complete" for trial in run_document["trials"])
    return Entry(
        name,
        link,
        "",
        str(run_document["experiment"] or ""),
        str(run_document["question"] or ""),
        words.when(run_document["started_unix_s"]),
        float(run_document["started_unix_s"] or 0.0),
        host_of(run_document["environment"]),
        str(run_document["dbdyno"] or ""),
        str(run_document["state"]),
        brief(run_document),
        words.limits(run_document["headline"]["limits"]),
        f"{complete} of {len(run_document['trials'])} trials",
        ", ".join(labels),
        ", ".join(workloads),
    )


def host_of(environment: Environment) -> str:
    """Return a host in words: its name if known, its processors and its memory."""
    cpu = environment.get("cpu_model")
    cpus = environment.get("cpus")
    memory = environment.get("memory_bytes")
    parts = [environment.get("host"), f"{cpus} × {cpu}" if cpus and cpu else cpu]
    return ", ".join(str(part) for part in (*parts, words.short_bytes(memory) if memory else None) if part)


def render_index(title: str, entries: Iterable[Entry]) -> str:
    """Return the page; the newest run comes first, those that cannot be read last."""
    ordered = sorted(entries, key=lambda entry: (bool(entry.broken), -entry.started_unix_s, entry.name))
    return (
        environment_of_templates()
        .get_template("index.html.j2")
        .render(
            title=title,
            entries=[entry for entry in ordered if not entry.broken],
            broken=[entry for entry in ordered if entry.broken],
            style=inlined("page.css") + inlined("index.css"),
            theme=inlined("theme.js"),
        )
    )
