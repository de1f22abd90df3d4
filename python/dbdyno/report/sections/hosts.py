"""Measurements of a host in words, and the differences between two hosts that make a comparison doubtful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from dbdyno.report.core.words import significant

Measured = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Gauge:
    """One figure of a host.

    Attributes:
        name: for people.
        path: its keys in `measured` (docs/run-folder.md, environment.json).
        unit, scale: the unit that is shown, and the divisor for it.
        apart: two hosts differ if their figures differ by more than this factor; `None` if it is never compared.
        course: the keys of its values over the time of the measurement; empty if another gauge has that course.
    """

    name: str
    path: tuple[str, ...]
    unit: str
    scale: float = 1.0
    apart: float | None = None
    course: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """Its name without the statistic."""
        return self.name.removesuffix(", median").removesuffix(", best")

    @property
    def is_rate(self) -> bool:
        """Return whether less of it is worse."""
        return self.unit.endswith("/s")

    def written(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{significant(value / self.scale)}{self.unit}"


def _median(name: str, *path: str, apart: float | None = None) -> Gauge:
    """Return the gauge of a time's median, with its course."""
    return Gauge(f"{name}, median", (*path, "p50"), " µs", apart=apart, course=(*path, "slots"))


GAUGES = (
    Gauge("resolution of the clock", ("clock", "resolution_ns"), " ns"),
    Gauge("reading the clock", ("clock", "read_ns"), " ns", course=("clock", "slots")),
    _median("sleeping too long (of 100 µs)", "oversleep_us", apart=2.0),
    Gauge("sleeping too long, p99", ("oversleep_us", "p99"), " µs"),
    Gauge("copying memory, best", ("memory", "best_bytes_per_s"), " GB/s", 1e9, 1.5, ("memory", "slots")),
    _median("loopback round trip, anywhere", "loopback_us", "unpinned"),
    _median("loopback round trip, one CPU", "loopback_us", "same_cpu", apart=1.5),
    _median("loopback round trip, two CPUs", "loopback_us", "two_cpus"),
    _median("random read of 4 KiB", "disk", "read_us", apart=2.0),
    Gauge("random read of 4 KiB, p99", ("disk", "read_us", "p99"), " µs"),
    _median("write and flush of 4 KiB", "disk", "flush_us", apart=2.0),
    Gauge("write and flush of 4 KiB, p99", ("disk", "flush_us", "p99"), " µs"),
    Gauge(
        "speed of a fixed loop, median",
        ("processor", "steps_per_s", "median"),
        " million steps/s",
        scale=1e6,
        apart=1.2,
        course=("processor", "slots"),
    ),
    Gauge("speed of a fixed loop, slowest 0.1 s", ("processor", "steps_per_s", "slowest"), " million steps/s", 1e6),
    Gauge("speed of it per second of CPU", ("processor", "steps_per_cpu_s"), " million steps/s", 1e6, 1.2),
    Gauge(
        "processor taken by the hypervisor",
        ("processor", "steal_share"),
        " %",
        scale=0.01,
        course=("processor", "steal_slots"),
    ),
)
"""In the order they are shown. The factors are chosen: another machine, a slower clock or a busy neighbour exceeds
them, and a quiet machine does not. docs/experiments/host.md has measured differences."""
BLOCKS = "▁▂▃▄▅▆▇█"
SKETCHED = 15
_STEAL = ("processor", "steal_slots")
WORTH_SAYING = 1.1
"""A host is named if it is worse by at least this factor, however even that is."""
STOLEN = 0.01
"""A host is named if its neighbours take more than this share of its processors."""
_SHORTLY = {
    ("processor", "steps_per_s", "median"): "fixed loop",
    ("processor", "steps_per_s", "slowest"): "its slowest 0.1 s",
    ("processor", "steal_share"): "stolen",
    ("memory", "best_bytes_per_s"): "memory copy",
    ("loopback_us", "same_cpu", "p50"): "loopback",
    ("disk", "read_us", "p50"): "disk read",
    ("disk", "flush_us", "p50"): "flush",
}


def figure(measured: Measured, gauge: Gauge) -> float | None:
    """Return a figure of a host, or `None` if it was not measured."""
    value: float | None = _at(measured, gauge.path)
    return value


def course(measured: Measured, gauge: Gauge) -> list[float | None]:
    """Return a figure in equal slots of the time of its measurement; empty if unknown."""
    return _at(measured, gauge.course) or [] if gauge.course else []


def worst(measured: Measured, gauge: Gauge) -> list[float | None]:
    """Return the worst value in each slot; empty if unknown."""
    return _at(measured, (*gauge.course[:-1], "worst")) or [] if gauge.course else []


def slot_s(measured: Measured, gauge: Gauge) -> float:
    """Return the length of a slot."""
    return _at(measured, (*gauge.course[:-1], "slot_s")) or 0.0


def _at(measured: Measured, path: tuple[str, ...]) -> Any:
    value: Any = measured
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def sketch(values: Sequence[float | None]) -> str:
    """Return a course as a line of block characters: from zero up, a gap for an unknown value.

    A longer course shows the medians of SKETCHED parts.
    """
    ends = np.linspace(0, len(values), min(SKETCHED, len(values)) + 1).astype(int).tolist()
    parts = [[value for value in values[begin:end] if value is not None] for begin, end in pairwise(ends)]
    middles = [median(part) if part else None for part in parts]
    highest = max((middle for middle in middles if middle), default=1)
    steps = len(BLOCKS) - 1
    return "".join(" " if middle is None else BLOCKS[round(steps * middle / highest)] for middle in middles)


def host_in_words(measured: Measured | None) -> str | None:
    """Return the measurements of a host before a run, in a line; `None` if there are none."""
    if not measured:
        return None
    by_path = {gauge.path: gauge for gauge in GAUGES}
    values = {path: figure(measured, by_path[path]) for path in _SHORTLY}
    said = [f"{_SHORTLY[path]} {by_path[path].written(value)}" for path, value in values.items() if value is not None]
    return f"Host before the run: {', '.join(said)}."


def worsened(before: Measured | None, after: Measured | None) -> Iterator[str]:
    """Yield what was worse on a host after a run than before it, by more than it varied during the measurements.

    Nine tenths of the slots after were worse than nine tenths of those before, and the median was worse by a tenth.
    """
    if not before or not after:
        return
    for gauge in GAUGES:
        courses = (course(before, gauge), course(after, gauge))
        ours, theirs = (np.array([value for value in values if value is not None]) for values in courses)
        if not (len(ours) and len(theirs)) or gauge.course == _STEAL:
            continue
        medians = [float(np.median(values)) for values in (ours, theirs)]
        if gauge.is_rate:
            apart, factor = np.quantile(ours, 0.1) > np.quantile(theirs, 0.9), medians[0] / medians[1]
        else:
            apart, factor = np.quantile(ours, 0.9) < np.quantile(theirs, 0.1), medians[1] / (medians[0] or 1)
        if apart and factor >= WORTH_SAYING:
            said = " against ".join(gauge.written(value) for value in reversed(medians))
            yield f"{gauge.short}: {said} before the run"


def host_differences(ours: Measured | None, theirs: Measured | None) -> Iterator[str]:
    """Yield what differs by much between the hosts of two runs, and the share of processors that their neighbours
    took."""
    if not ours or not theirs:
        return
    for gauge in GAUGES:
        values = [value for value in (figure(ours, gauge), figure(theirs, gauge)) if value]
        if gauge.apart is None or len(values) < 2:
            continue
        factor = max(values) / min(values)
        if factor > gauge.apart:
            said = " against ".join(gauge.written(value) for value in values)
            yield f"between the runs the host differs, {gauge.name}: {said}, a factor of {significant(factor)}"
    stolen = [(measured.get("processor") or {}).get("steal_share") or 0.0 for measured in (ours, theirs)]
    if max(stolen) > STOLEN:
        taken = f"{stolen[0]:.1%} of the processors before the first run, {stolen[1]:.1%} before the second"
        yield f"the hypervisor took {taken}"
