"""Systems × workloads over all runs of a folder: in each row the newest figure of every system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from dbdyno.report.core.documents import RunDocument
from dbdyno.report.core.loads import rate_per_s
from dbdyno.report.core.ratios import limit_of
from dbdyno.report.core.series import series_of
from dbdyno.report.index import host_of
from dbdyno.report.sections.ranking import best_trials

SHADES = 10
"""Colours of the page: the tenths of the best figure of a row."""


@dataclass(frozen=True, slots=True, order=True)
class Conditions:
    """The conditions that the figures of one row share."""

    workload: str
    rows: int
    pipeline: int
    network_delay_us: int
    host: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One system in one run: its highest throughput in a closed loop.

    system: its label, without what the conditions say.
    client_limited: the figure is a lower bound.
    """

    conditions: Conditions
    system: str
    run: str
    started_unix_s: float
    throughput_per_s: float
    clients: int
    client_limited: bool
    durability: str
    limit: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell beside the best of its row: its share of that, and the shade of that share, 1 to SHADES."""

    cell: Cell
    share: float
    shade: int


@dataclass(frozen=True, slots=True)
class Row:
    """One workload under one set of conditions; an entry for each system of the matrix, or None."""

    conditions: Conditions
    entries: Sequence[Shown | None]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows, each with an entry for every system."""

    systems: Sequence[str]
    rows: Sequence[Row]


def cells_of(run: str, run_document: RunDocument) -> tuple[Cell, ...]:
    """Return each system of a run's document at the load of its highest throughput."""
    closed = run_document.copy()
    closed["trials"] = [trial for trial in run_document["trials"] if not trial.get("rate") and trial["clients"]]
    return tuple(
        Cell(
            Conditions(
                str(trial["workload"]),
                int(trial["rows"] or 0),
                int(trial["pipeline"] or 1),
                int(trial["network_delay_us"] or 0),
                host_of(run_document["environment"]),
            ),
            str(trial["label"]),
            run,
            float(run_document["started_unix_s"] or 0.0),
            rate_per_s(trial),
            trial["clients"] or 0,
            bool(trial["client_limited"]),
            str(trial["durability"] or "unknown"),
            limit_of(trial),
        )
        for _, trial in best_trials(series_of(closed))
    )


def matrix(cells: Iterable[Cell]) -> Matrix:
    """Return all cells in rows; of several runs of a system under the same conditions the newest counts."""
    newest: dict[Conditions, dict[str, Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.started_unix_s):
        newest.setdefault(cell.conditions, {})[cell.system] = cell
    systems = sorted({system for of_row in newest.values() for system in of_row})
    return Matrix(systems, [_row(conditions, of_row, systems) for conditions, of_row in sorted(newest.items())])


def _row(conditions: Conditions, cells: dict[str, Cell], systems: Sequence[str]) -> Row:
    best = max(cell.throughput_per_s for cell in cells.values())
    return Row(conditions, [_shown(cells[system], best) if system in cells else None for system in systems])


def _shown(cell: Cell, best: float) -> Shown:
    share = cell.throughput_per_s / best
    return Shown(cell, share, max(1, ceil(share * SHADES)))
