"""A/A noise: how much a system differs from itself in a run against itself, and the margin that follows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.results.noise import NoiseFloor, load_of, noise_for
from dbdyno.results.usable import unusable
from dbdyno.stats.comparison import Comparison, aa_noise

if TYPE_CHECKING:
    from dbdyno.report.cells import Cell, Compared, Side


def floor_of(floors: Sequence[NoiseFloor], baseline: Side, candidate: Side, cell: Cell) -> NoiseFloor | None:
    """Return the noise floor of the same host and workload that is most like a cell, or `None`.

    The same trial length counts before the same load, and the load before the systems: noise is the host's first.
    """
    systems = {_system(baseline), _system(candidate)}
    load = cell.clients, cell.pipeline, cell.network_delay_us
    likes = (
        lambda floor: floor.seconds == _seconds(candidate),
        lambda floor: floor.rows == cell.rows and load_of(floor) == load,
        lambda floor: floor.system in systems,
    )
    return noise_for(floors, host_of(candidate), cell.workload, likes)


def measured_floors(cells: Sequence[Compared]) -> list[NoiseFloor]:
    """Return the noise floors that the cells of an A/A run measured; a cell with an unusable trial gives none.

    A cell that its client limited gives one too: its lower bounds vary as much as store and client do.
    """
    usable = [compared for compared in cells if not any(map(unusable, chain(*compared.trials)))]
    return [
        _floor(compared, comparison, comparison.low, comparison.high)
        for compared in usable
        if (comparison := compared.comparison)
        and comparison.pairs > 1
        and comparison.low is not None
        and comparison.high is not None
    ]


def _floor(compared: Compared, comparison: Comparison, low: float, high: float) -> NoiseFloor:
    return NoiseFloor(
        host=host_of(compared.candidate),
        system=_system(compared.candidate),
        workload=compared.cell.workload,
        rows=compared.cell.rows,
        clients=compared.cell.clients,
        pipeline=compared.cell.pipeline,
        seconds=_seconds(compared.candidate),
        pairs=comparison.pairs,
        low=low,
        high=high,
        noise=aa_noise(comparison),
        run=compared.candidate.run.path.name,
        at_unix_s=float(compared.candidate.run.facts.started_unix_s or 0.0),
        network_delay_us=compared.cell.network_delay_us,
    )


def floor_sentence(floor: NoiseFloor) -> str:
    """Return the result of an A/A run in a cell. Its interval should include 1, and by chance 1 in 20 does not."""
    holds = floor.low <= 1 <= floor.high
    outcome = "includes no difference, as it should" if holds else "excludes no difference, as in 1 in 20 by chance"
    cell = f"{floor.workload}, {floor.clients} client{'' if floor.clients == 1 else 's'}"
    noise = words.significant(100 * floor.noise)
    return f"{cell}: noise floor ±{noise} % from {floor.pairs} pairs; the interval {outcome}."


def host_of(side: Side) -> str:
    """Return the name of the host that a side was run on."""
    return str(side.run.environment.get("host") or "unknown")


def _system(side: Side) -> str:
    return str(side.trials[0].system)


def _seconds(side: Side) -> int:
    return int(side.trials[0].facts.seconds or 0)
