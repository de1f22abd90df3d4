"""What copies of databases by their own tools are shown as: dump and restore apart, by tool and number of workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from rich.console import Console

from dbdyno.report.core.factors import factor_axis, factor_line
from dbdyno.report.core.loads import Document
from dbdyno.report.core.looks import Look, looks
from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.core.words import UNKNOWN, short_count, significant

STEPS = ("dump", "restore")
NOTE = (
    "MB/s is of the dump's files, which are of another size for each tool: rows/s is what can be compared. "
    "Identical: every row of the copy was compared with the original's, and every table's definition."
)


def copied(shown: Document) -> list[Document]:
    """Return the trials of a run that copied tables, or were about to."""
    return [trial for trial in shown["trials"] if trial.get("copy")]


HEADINGS = ("system", "tool", "workers", "", "s", "rows/s", "MB/s", "tool\nCPU s", "server\nCPU s", "identical")
LEFT = (0, 1, 3)
"""The places of columns of words."""


def rows(trials: Sequence[Document]) -> list[list[str]]:
    """Return a row for each configuration's dump and one for its restore, in the order of the run.

    Of repetitions they have the median.
    """
    return [row for same in _cells(trials) for row in (_row(same, STEPS[0]), _row(same, STEPS[1]))]


def _cells(trials: Sequence[Document]) -> list[list[Document]]:
    found: dict[tuple[str, str], list[Document]] = {}
    for trial in trials:
        found.setdefault((trial["label"], trial["workload"]), []).append(trial)
    return list(found.values())


def _row(trials: Sequence[Document], step: str) -> list[str]:
    def of(key: str, unit: float = 1.0) -> float | None:
        return _middle(trials, step, lambda took: took[key] and took[key] / unit)

    copy, per_s = trials[0]["copy"], of("rows_per_s")
    is_first = step == STEPS[0]
    told = [trials[0]["label"], copy["tool"], str(copy["workers"])] if is_first else [""] * 3
    rate = UNKNOWN if per_s is None else short_count(per_s)
    figures = [of("seconds"), of("bytes_per_s", 1e6), of("tool_cpu_s"), of("server_cpu_s")]
    seconds, *others = map(significant, figures)
    return [*told, step, seconds, rate, *others, "" if is_first else _identical(trials)]


def _middle(trials: Sequence[Document], step: str, figure: Callable[[Document], float | None]) -> float | None:
    """Return the median of a step's figure over the copies that have it."""
    took = [trial["copy"][step] for trial in trials if trial["copy"][step]]
    known = [value for one in took if (value := figure(one)) is not None]
    return median(known) if known else None


def _identical(trials: Sequence[Document]) -> str:
    told = {trial["copy"]["identical"] for trial in trials}
    return "NO" if False in told else "yes" if told == {True} else UNKNOWN


def print_copies(trials: list[Document], console: Console, notes: bool = True) -> None:
    """Print how fast each tool dumped and restored, with how many workers, and whether the copy was the same.

    notes: say what the columns are.
    """
    cells = zip(*rows(trials), strict=True)
    columns = [
        Column(heading, column, place if heading.endswith("CPU s") else None, left=place in LEFT)
        for place, (heading, column) in enumerate(zip(HEADINGS, cells, strict=True))
    ]
    print_columns(columns, console)
    if notes:
        say(console, NOTE, "dim", indent=2)


def sentence(trials: Sequence[Document]) -> str:
    """Say which configuration dumped and which restored most rows a second; one look is no ranking."""
    done = [same for same in _cells([one for one in trials if one["state"] == "complete"])]
    if not done:
        return "No copy was completed and identical, so there is no figure to name."
    return " ".join(_most(done, step) for step in STEPS) + " An observation on this host, no ranking."


def _most(cells: Sequence[Sequence[Document]], step: str) -> str:
    speeds = {median(one["copy"][step]["rows_per_s"] for one in same): same[0] for same in cells}
    top = max(speeds)
    copy = speeds[top]["copy"]
    by = f"{speeds[top]['label']} by {copy['tool']} with {copy['workers']} worker{'s' if copy['workers'] > 1 else ''}"
    return f"Most rows in a {step}: {top:,.0f}/s, {by}."


def figures(all_series: Sequence[Series]) -> dict[str, dict[str, Any]]:
    """Return the plots of a run of copies, rows a second against workers by step; none of another run."""
    found = copied({"trials": [trial for series in all_series for trial in series.trials]})
    complete = [trial for trial in found if trial["state"] == "complete"]
    lines: dict[tuple[str, str], list[list[Document]]] = {}
    for same in _cells(complete):
        lines.setdefault((same[0]["label"], same[0]["copy"]["tool"]), []).append(same)
    workers = sorted({trial["copy"]["workers"] for trial in complete})
    axes = {
        "xaxis": factor_axis(workers, "workers"),
        "yaxis": {"rangemode": "tozero", "separatethousands": True},
        "showlegend": True,
    }
    hue_of = {series.label: series.look.hue for series in all_series}
    shades = looks([hue_of[label] for label, _ in lines])
    drawn = {}
    for step in STEPS if lines else ():
        data = [_line(look, *whose, cells, step) for (whose, cells), look in zip(lines.items(), shades, strict=True)]
        drawn[f"copy-{step}"] = {"data": data, "layout": axes}
    return drawn


def _line(look: Look, label: str, tool: str, cells: Sequence[Sequence[Document]], step: str) -> dict[str, Any]:
    points = sorted(
        (same[0]["copy"]["workers"], median(one["copy"][step]["rows_per_s"] for one in same)) for same in cells
    )
    return factor_line(look, f"{label}, {tool}", points)


def part(page: Page) -> Part | None:
    """Return the plots and the table of dump and restore."""
    trials = copied(page.shown)
    if not (trials and page.series):
        return None
    plots = figures(page.series)
    content = {"headings": HEADINGS, "left": LEFT, "rows": rows(trials), "note": NOTE, "steps": STEPS if plots else ()}
    return Part(content, plots)


SECTION = Section(
    "copies.html.j2",
    part,
    {"copy-dump": "Dump, rows/s by workers", "copy-restore": "Restore, rows/s by workers"},
)
