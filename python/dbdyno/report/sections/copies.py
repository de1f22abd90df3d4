"""Copies of databases by their own tools: dump and restore apart, by tool and number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from dbdyno.report.core.factors import factor_axis, factor_line
from dbdyno.report.core.looks import Look, looks
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, trials_of
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.core.words import UNKNOWN, short_count, significant

if TYPE_CHECKING:
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.plots import Figure
    from dbdyno.report.core.trial_documents import TrialDocument
    from dbdyno.results.json_types import CopyStated, CopyStepStated

Step = Literal["dump", "restore"]
StepKey = Literal["seconds", "rows_per_s", "bytes_per_s", "tool_cpu_s", "server_cpu_s"]
STEPS: tuple[Step, Step] = ("dump", "restore")
NOTE = (
    "MB/s counts the dump's files, whose size differs by tool, so compare rows/s. "
    "Identical: every row of the copy was compared with the original's, and every table's definition."
)


def copied(trials: Iterable[TrialDocument]) -> list[TrialDocument]:
    """Return those trials that copied tables, or were about to."""
    return [trial for trial in trials if trial.get("copy")]


def copy_of(trial: TrialDocument) -> CopyStated:
    """Return the copy of a trial that `copied` named."""
    copy = trial["copy"]
    assert copy is not None, "only trials with a copy come here it"
    return copy


HEADINGS = ("system", "tool", "workers", "", "s", "rows/s", "MB/s", "tool\nCPU s", "server\nCPU s", "identical")
LEFT = (0, 1, 3)
"""The indices of the columns of words."""


def rows(trials: Sequence[TrialDocument]) -> list[list[str]]:
    """Return a row for each configuration's dump and one for its restore, in the order of the run.

    With repetitions a row has the median.
    """
    return [row for same in _cells(trials) for row in (_row(same, STEPS[0]), _row(same, STEPS[1]))]


def _cells(trials: Sequence[TrialDocument]) -> list[list[TrialDocument]]:
    by_configuration: dict[tuple[str, str | None], list[TrialDocument]] = {}
    for trial in trials:
        by_configuration.setdefault((trial["label"], trial["workload"]), []).append(trial)
    return list(by_configuration.values())


def _row(trials: Sequence[TrialDocument], step: Step) -> list[str]:
    def of(key: StepKey, unit: float = 1.0) -> float | None:
        return _middle(trials, step, lambda took: (value := took[key]) and value / unit)

    copy, per_s = copy_of(trials[0]), of("rows_per_s")
    is_first = step == STEPS[0]
    labels = [trials[0]["label"], copy["tool"], str(copy["workers"])] if is_first else [""] * 3
    rate = UNKNOWN if per_s is None else short_count(per_s)
    figures = [of("seconds"), of("bytes_per_s", 1e6), of("tool_cpu_s"), of("server_cpu_s")]
    seconds, *others = map(significant, figures)
    return [*labels, step, seconds, rate, *others, "" if is_first else _identical(trials)]


def _middle(
    trials: Sequence[TrialDocument], step: Step, figure: Callable[[CopyStepStated], float | None]
) -> float | None:
    """Return the median of a step's figure over the copies that have it."""
    took = [stated for trial in trials if (stated := copy_of(trial)[step])]
    known = [value for stated in took if (value := figure(stated)) is not None]
    return median(known) if known else None


def _rows_per_s(trials: Sequence[TrialDocument], step: Step) -> float:
    """Return the median speed of a step that each of the copies went through."""
    return _middle(trials, step, lambda took: took["rows_per_s"]) or 0.0


def _identical(trials: Sequence[TrialDocument]) -> str:
    answers = {copy_of(trial)["identical"] for trial in trials}
    return "NO" if False in answers else "yes" if answers == {True} else UNKNOWN


def print_copies(trials: list[TrialDocument], console: Console, notes: bool = True) -> None:
    """Print how fast each tool dumped and restored, with how many workers, and whether the copy was the same.

    notes: also explain the columns.
    """
    cells = zip(*rows(trials), strict=True)
    columns = [
        Column(heading, column, index if heading.endswith("CPU s") else None, left=index in LEFT)
        for index, (heading, column) in enumerate(zip(HEADINGS, cells, strict=True))
    ]
    print_columns(columns, console)
    if notes:
        say(console, NOTE, "dim", indent=2)


def sentence(trials: Sequence[TrialDocument]) -> str:
    """Return which configuration dumped and which restored most rows a second: an observation, no ranking."""
    done = _cells([trial for trial in trials if trial["state"] == "complete"])
    if not done:
        return "No copy was completed and identical, so there is no figure to name."
    copies = min(map(len, done))
    seen = f"Each is the median of {copies} copies" if copies > 1 else "This is one observation"
    return " ".join(_most(done, step) for step in STEPS) + f" {seen}, not a ranking."


def by_store(trials: Iterable[TrialDocument]) -> list[str]:
    """Return for each system how fast it dumped and restored with the tool and the workers that were fastest."""
    by_label: dict[str, list[TrialDocument]] = {}
    for trial in copied(trials):
        by_label.setdefault(trial["label"], []).append(trial)
    return [" ".join(_most(_cells(same), step) for step in STEPS) for same in by_label.values()]


def _most(cells: Sequence[Sequence[TrialDocument]], step: Step) -> str:
    fastest = max(cells, key=lambda same: _rows_per_s(same, step))
    copy = copy_of(fastest[0])
    by = f"{fastest[0]['label']} by {copy['tool']} with {copy['workers']} worker{'s' if copy['workers'] > 1 else ''}"
    return f"Fastest {step}: {_rows_per_s(fastest, step):,.0f} rows/s{_spread(fastest, step)}, {by}."


def _spread(repetitions: Sequence[TrialDocument], step: Step) -> str:
    """Return the lowest and the highest speed of repetitions, in brackets; empty if there is one."""
    speeds = [took["rows_per_s"] for trial in repetitions if (took := copy_of(trial)[step])]
    return f" ({min(speeds):,.0f} to {max(speeds):,.0f})" if len(speeds) > 1 else ""


def figures(all_series: Sequence[Series]) -> dict[str, Figure]:
    """Return the plots of a run of copies, rows a second against workers by step; empty for another run."""
    trials = copied(trials_of(all_series))
    complete = [trial for trial in trials if trial["state"] == "complete"]
    lines: dict[tuple[str, str], list[list[TrialDocument]]] = {}
    for same in _cells(complete):
        lines.setdefault((same[0]["label"], copy_of(same[0])["tool"]), []).append(same)
    workers = sorted({copy_of(trial)["workers"] for trial in complete})
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


def _line(look: Look, label: str, tool: str, cells: Sequence[Sequence[TrialDocument]], step: Step) -> Figure:
    points = sorted((copy_of(same[0])["workers"], _rows_per_s(same, step)) for same in cells)
    return factor_line(look, f"{label}, {tool}", points)


def part(page: Page) -> Part | None:
    """Return the plots and the table of dump and restore."""
    trials = copied(page.document["trials"])
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
