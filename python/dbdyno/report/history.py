"""Runs of one kind over time: the level of every cell, and where it changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich.console import Console

from dbdyno.report.cells import Cell, Side, conditions
from dbdyno.report.comparison import OPEN_LOOP, lower_bound
from dbdyno.report.core import words
from dbdyno.report.core.loads import LOAD_KEYS
from dbdyno.report.core.terminal import say
from dbdyno.report.limited_sides import client_decided
from dbdyno.report.noise import floor_of, host_of
from dbdyno.results.model import Run, Trial
from dbdyno.results.noise import NoiseFloor
from dbdyno.results.usable import Evenness, compared_rate_per_s, evenness, unusable
from dbdyno.stats.change_points import NOISES, SHORTEST_SEGMENT, ChangePoint, change_points, least_change


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a series.

    Attributes:
        throughput_per_s: the geometric mean of its usable trials.
        stability: the worst of these (`evenness`).
    """

    side: Side
    throughput_per_s: float
    stability: Evenness

    @property
    def run(self) -> str:
        """The run's name."""
        return self.side.run.path.name


@dataclass(frozen=True, slots=True)
class Series:
    """One system's cell through all runs that have it under the same conditions, in the order of time.

    Attributes:
        conditions: what all its runs have in common (`conditions`), by name.
        apart: the names of the conditions in which other series of the same system and load differ from it.
        noise: the system's A/A noise, as requested or from `noise_from`; 0 if unknown.
        least_change: the smallest change, as a share, that counts.
        changes: confirmed changes of level; `None` with too few runs to tell.
    """

    label: str
    cell: Cell
    conditions: Mapping[str, str]
    apart: tuple[str, ...]
    points: tuple[Point, ...]
    noise: float
    noise_from: NoiseFloor | None
    least_change: float
    changes: tuple[ChangePoint, ...] | None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of the hosts its runs were made on, in their order."""
        return tuple(dict.fromkeys(host_of(point.side) for point in self.points))

    @property
    def name(self) -> str:
        """Its system, workload and load, for people."""
        return f"{self.label} on {self.cell.workload} at {self.cell.load}"


@dataclass(frozen=True, slots=True)
class History:
    """All series of a folder. `left_out`: cells and trials in no series, with the reason. `noise_given`: not from
    `aa`."""

    series: tuple[Series, ...]
    left_out: tuple[str, ...]
    noise_given: bool


def history(runs: Sequence[Run], noise: float | Sequence[NoiseFloor]) -> History:
    """Follow every system and cell through `runs`, each set of conditions by itself.

    Open loops, failed trials and cells with a trial limited by its client are left out: their throughput is not the
    store's.

    Args:
        noise: the A/A noise of these hosts, or their known noise floors.
    """
    followed: dict[tuple[str, Cell, tuple[tuple[str, str], ...]], list[Point]] = {}
    left_out: list[str] = []
    for run in sorted(runs, key=lambda run: float(run.facts.started_unix_s or 0)):
        for side in (Side(run, label, label) for label in run.labels):
            for cell, trials in side.cells().items():
                of = f"{run.path.name}: {side.label} on {cell.workload} at {cell.load}"
                left_out += (f"{of}: {why}" for why in _reasons(side, cell, trials.values()))
                if usable := _usable(cell, trials.values()):
                    rate = float(np.exp(np.mean([np.log(compared_rate_per_s(trial)) for trial in usable])))
                    key = side.label, cell, tuple(conditions(run, usable[0]).items())
                    followed.setdefault(key, []).append(Point(side, rate, evenness(usable)))
    return History(tuple(_series(followed, noise)), tuple(left_out), isinstance(noise, float))


def _usable(cell: Cell, trials: Collection[Trial]) -> list[Trial]:
    usable = [trial for trial in trials if not unusable(trial)]
    return [] if cell.rate or client_decided(usable) else usable


def _reasons(side: Side, cell: Cell, trials: Collection[Trial]) -> Iterator[str]:
    """Yield why a run's cell, or a trial of it, is no part of a history."""
    if cell.rate:
        yield OPEN_LOOP
        return
    yield from (f"{trial.name}: {why}" for trial in trials if (why := unusable(trial)))
    if client_decided(trials):
        yield lower_bound(side)


def _series(
    followed: Mapping[tuple[str, Cell, tuple[tuple[str, str], ...]], Sequence[Point]],
    noise: float | Sequence[NoiseFloor],
) -> Iterator[Series]:
    """Yield the series, those of one system and load one after the other."""
    alike: dict[tuple[str, str, str], list[tuple[Cell, dict[str, str], Sequence[Point]]]] = {}
    for (label, cell, shared), points in followed.items():
        alike.setdefault((label, cell.workload, cell.load), []).append((cell, dict(shared), points))
    for (label, _, _), several in alike.items():
        apart = tuple(name for name in several[0][1] if len({common[name] for _, common, _ in several}) > 1)
        for cell, common, points in several:
            last = points[-1].side
            floor = None if isinstance(noise, float) else floor_of(noise, last, last, cell)
            least = noise if isinstance(noise, float) else floor.noise if floor else 0.0
            ratios = np.log(np.array([point.throughput_per_s for point in points]) / points[0].throughput_per_s)
            enough = len(points) >= 2 * SHORTEST_SEGMENT
            changes = tuple(change_points(ratios, least)) if enough else None
            counts = least_change(least)
            yield Series(label, cell, common, apart, tuple(points), least, floor, counts, changes)


def history_document(run_history: History) -> dict[str, object]:
    """Return the series as plain JSON values; `index` counts the series' runs from 0."""
    return {
        "series": [_series_document(series) for series in run_history.series],
        "left_out": list(run_history.left_out),
        "notes": list(_notes(run_history)),
    }


def _series_document(series: Series) -> dict[str, object]:
    changes = (
        None if series.changes is None else [asdict(c) | {"run": series.points[c.index].run} for c in series.changes]
    )
    return {
        "label": series.label,
        "durability": series.conditions["durability class"],
        **{key: getattr(series.cell, key) for key in LOAD_KEYS},
        "conditions": dict(series.conditions),
        "differs_in": list(series.apart),
        "hosts": list(series.hosts),
        "runs": [
            {key: getattr(point, key) for key in ("run", "throughput_per_s", "stability")} for point in series.points
        ],
        "noise": series.noise,
        "noise_from": series.noise_from.run if series.noise_from else None,
        "least_change": series.least_change,
        "changes": changes,
    }


def print_history(run_history: History, console: Console) -> None:
    """Print a line for each series and one for each change, then what was left out and what a reader must know."""
    for series in run_history.series:
        say(console, f"{series.label}  {series.cell.workload}, {series.cell.load}  {_level(series)}", "bold", hang=2)
        if series.apart:
            shared = ", ".join(f"{name} {series.conditions[name]}" for name in series.apart)
            say(console, f"with {shared}", "dim", indent=4, hang=2)
        for change in series.changes or ():
            size = f"{100 * change.change:+.1f} % [{100 * change.low:+.1f}, {100 * change.high:+.1f}]"
            said = f"{size} from {series.points[change.index].run} on (p = {change.p_value:.2g})"
            say(console, said, "red" if change.change < 0 else "green", indent=4, hang=2)
    for text in run_history.left_out:
        say(console, f"Left out: {text}", "yellow", hang=2)
    for text in _notes(run_history):
        say(console, f"Note: {text}.", "dim", hang=2)


def _level(series: Series) -> str:
    count, last = len(series.points), series.points[-1]
    even = f" ({said})" if (said := words.evenness(last.stability)) else ""
    level = f"{words.whole(last.throughput_per_s)}/s{even} in the last of {count} run{'' if count == 1 else 's'}"
    if series.changes is None:
        return f"{level}: too few to tell a change, {2 * SHORTEST_SEGMENT} are needed"
    return level if series.changes else f"{level}: no confirmed change of {100 * series.least_change:.3g} %"


def _notes(run_history: History) -> Iterator[str]:
    """Yield which runs form no common history and why, and the noise that a change must exceed, each once."""
    apart: dict[tuple[str, ...], dict[str, None]] = {}
    for series in run_history.series:
        if series.apart:
            apart.setdefault(series.apart, {})[series.name] = None
    for what, names in apart.items():
        yield f"runs that differ in {', '.join(what)} are separate histories: {'; '.join(names)}"
    for series in run_history.series:
        if len(series.hosts) > 1:
            hosts = f"{len(series.hosts)} hosts of one kind"
            yield f"{series.name} is of {hosts}, so a difference between these hosts can look like a change"
    said: dict[str, None] = {}
    for series in run_history.series:
        on = f"{series.cell.workload} on {series.hosts[-1]}"
        if run_history.noise_given:
            said[f"a change counts from {_times(series.noise)} on, as requested"] = None
        elif series.noise_from:
            of = f"the noise of {series.noise_from.system} in {series.noise_from.run}"
            said[f"{on}: a change counts from {_times(series.noise)} on, {of}"] = None
        else:
            said[f"{on}: no noise floor is known; `dbdyno aa` measures it"] = None
    yield from said


def _times(noise: float) -> str:
    return f"{NOISES:g} × {100 * noise:.3g} %"
