"""A row of the table: two sides, the compared figures, and the limit."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median

from benches.measured import Sample

Combine = Callable[[float, float], float]


def ratio(ours: float, theirs: float) -> float:
    """Return how many times theirs ours is; infinite if theirs is 0, as user time may be in a short run."""
    return ours / theirs if theirs else math.inf


def difference(ours: float, theirs: float) -> float:
    """Return what ours is more than theirs."""
    return ours - theirs


@dataclass(frozen=True)
class Measure:
    """Something compared.

    of: its value in one sample, in `unit`. combine: from the two values of a pair to the figure, in `figure_unit`.
    limits: what the figure must be, by placement; elsewhere it is for information. at_least: a limit from below.
    """

    what: str
    unit: str
    of: Callable[[Sample], float]
    limits: Mapping[str, float] = field(default_factory=dict)
    at_least: bool = False
    combine: Combine = ratio
    figure_unit: str = "×"


@dataclass(frozen=True)
class Row:
    """A pair of runs. theirs: None if dbdyno's own figure has the limit."""

    name: str
    peer: str
    measures: tuple[Measure, ...]
    ours: Callable[[], Sample]
    theirs: Callable[[], Sample] | None = None


@dataclass(frozen=True)
class Line:
    """A line of the table: one measure of one row in one placement. note: why there are no figures."""

    row: str
    peer: str
    placement: str
    what: str
    unit: str
    figure_unit: str
    limit: float | None
    at_least: bool
    ours: tuple[float, ...] = ()
    theirs: tuple[float, ...] = ()
    figures: tuple[float, ...] = ()
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Return whether the median keeps the limit; None if there is no limit or nothing was measured."""
        if self.limit is None or not self.figures:
            return None
        middle = median(self.figures)
        return middle >= self.limit if self.at_least else middle <= self.limit


def lines_of(row: Row, placement: str, pairs: list[tuple[Sample, Sample | None]], note: str = "") -> list[Line]:
    """Return a row's lines, from its pairs of samples; a note why there are none is said once."""
    measures = row.measures if pairs else row.measures[:1]
    return [_line(row, placement, measure, pairs, note) for measure in measures]


def _line(row: Row, placement: str, measure: Measure, pairs: list[tuple[Sample, Sample | None]], note: str) -> Line:
    ours = tuple(measure.of(mine) for mine, _ in pairs)
    theirs = tuple(measure.of(other) for _, other in pairs if other)
    figures = tuple(map(measure.combine, ours, theirs)) if row.theirs else ours
    return Line(
        row.name,
        row.peer,
        placement,
        measure.what,
        measure.unit,
        measure.figure_unit,
        measure.limits.get(placement),
        measure.at_least,
        ours,
        theirs,
        figures,
        note,
    )
