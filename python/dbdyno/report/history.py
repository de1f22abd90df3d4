"""Runs of one kind over time: the level of every cell, and where it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from dbdyno.report import words
from dbdyno.report.cells import Cell, Side
from dbdyno.report.loads import LOAD_KEYS
from dbdyno.results.model import Run
from dbdyno.results.usable import compared_rate_per_s, evenness, unusable
from dbdyno.stats.change_points import SHORTEST_SEGMENT, ChangePoint, change_points

Point = tuple[str, float, Mapping[str, float | int | None]]
"""A run's name, its throughput per second and its stability."""


@dataclass(frozen=True, slots=True)
class Series:
    """One system's cell through all runs that have it, in the order of time.

    Attributes:
        runs: their names.
        throughput_per_s: of each, the geometric mean of its usable trials.
        stability: of each, the worst of these trials (`evenness`).
        changes: confirmed changes of level; `None` with too few runs to tell.
    """

    label: str
    durability: str
    cell: Cell
    runs: tuple[str, ...]
    throughput_per_s: tuple[float, ...]
    stability: tuple[Mapping[str, float | int | None], ...]
    changes: tuple[ChangePoint, ...] | None


def history(runs: Sequence[Run], aa_noise: float = 0.0) -> list[Series]:
    """Follow every system and cell through `runs`.

    Open loops, failed trials and those limited by their client are left out: their throughput is not the store's.
    """
    followed: dict[tuple[str, str, Cell], list[Point]] = {}
    for run in sorted(runs, key=lambda run: float(run.about.get("started_unix_s") or 0)):
        for label in run.labels:
            side = Side(run, label, label)
            for cell, trials in side.cells().items():
                usable = [one for one in trials.values() if not unusable(one) and not one.client_limited]
                if usable and not cell.rate:
                    logs = [np.log(compared_rate_per_s(trial)) for trial in usable]
                    place = followed.setdefault((label, side.durability, cell), [])
                    place.append((run.path.name, float(np.exp(np.mean(logs))), evenness(usable)))
    return [_series(*key, values, aa_noise) for key, values in followed.items()]


def _series(label: str, durability: str, cell: Cell, points: list[Point], aa_noise: float) -> Series:
    names, rates, even = zip(*points, strict=True)
    enough = len(rates) >= 2 * SHORTEST_SEGMENT
    ratios = np.log(np.array(rates) / rates[0])
    changes = tuple(change_points(ratios, aa_noise)) if enough else None
    return Series(label, durability, cell, names, rates, even, changes)


def history_document(found: Sequence[Series]) -> dict[str, Any]:
    """Return the series as plain JSON values; `index` counts the series' runs from 0."""
    return {"series": [_series_document(one) for one in found]}


def _series_document(one: Series) -> dict[str, Any]:
    changes = None if one.changes is None else [asdict(c) | {"run": one.runs[c.index]} for c in one.changes]
    cell = {key: getattr(one.cell, key) for key in LOAD_KEYS}
    keys = ("run", "throughput_per_s", "stability")
    figures = zip(one.runs, one.throughput_per_s, one.stability, strict=True)
    points = [dict(zip(keys, point, strict=True)) for point in figures]
    return {"label": one.label, "durability": one.durability, **cell, "runs": points, "changes": changes}


def print_history(found: Sequence[Series], console: Console) -> None:
    """Print a line for each series, and one for each change."""
    for one in found:
        line = Text.assemble((one.label, "bold"), f"  {one.cell.workload}, {one.cell.load}  {_level(one)}")
        console.print(line, soft_wrap=True)
        for change in one.changes or ():
            direction = f"{100 * change.change:+.1f} % from {one.runs[change.index]} on (p = {change.p_value:.2g})"
            console.print(Text(f"    {direction}", style="red" if change.change < 0 else "green"))


def _level(one: Series) -> str:
    count = len(one.runs)
    even = words.evenness(one.stability[-1])
    last = f"{words.whole(one.throughput_per_s[-1])}/s ({even}) in the last of {count} run{'' if count == 1 else 's'}"
    if one.changes is None:
        return f"{last}: too few to tell a change, {2 * SHORTEST_SEGMENT} are needed"
    return last if one.changes else f"{last}: no confirmed change"
