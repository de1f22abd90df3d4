"""Measurements of a host in words, and the differences between two hosts that make a comparison doubtful."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

import numpy as np

from dbdyno.report.core.words import significant
from dbdyno.results.environment import (
    MeasuredClock,
    MeasuredCourse,
    MeasuredDisk,
    MeasuredHost,
    MeasuredLoopback,
    MeasuredMemory,
    MeasuredNetwork,
    MeasuredParallelDisk,
    MeasuredProcessor,
    MeasuredRate,
    MeasuredTimes,
)


@dataclass(frozen=True, slots=True)
class Gauge:
    """One figure of a host.

    Attributes:
        name: for people.
        value: the figure of a measured host (docs/run-folder.md, environment.json); `None` if it was not measured.
        unit, scale: the unit that is shown, and the divisor for it.
        apart: two hosts differ if their figures differ by more than this factor; `None` if it is never compared.
        over_time: its values over the time of the measurement; `None` if another gauge has that course.
    """

    name: str
    value: Callable[[MeasuredHost], float | None]
    unit: str
    scale: float = 1.0
    apart: float | None = None
    over_time: Callable[[MeasuredHost], MeasuredCourse] | None = None

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


def _clock(host: MeasuredHost) -> MeasuredClock:
    return host.get("clock") or MeasuredClock()


def _sleeps(host: MeasuredHost) -> MeasuredTimes:
    return host.get("oversleep_us") or MeasuredTimes()


def _memory(host: MeasuredHost) -> MeasuredMemory:
    return host.get("memory") or MeasuredMemory()


def _processor(host: MeasuredHost) -> MeasuredProcessor:
    return host.get("processor") or MeasuredProcessor()


def _loops(host: MeasuredHost) -> MeasuredCourse:
    """Return the speed of the loop over time."""
    processor = _processor(host)
    return {"slots": processor.get("slots", ()), "slot_s": processor.get("slot_s", 0.0)}


def _stolen(host: MeasuredHost) -> MeasuredCourse:
    """Return the share of the processors that the hypervisor took, over time."""
    processor = _processor(host)
    return {"slots": processor.get("steal_slots", ()), "slot_s": processor.get("slot_s", 0.0)}


def _trips(way: Literal["unpinned", "same_cpu", "two_cpus"]) -> Callable[[MeasuredHost], MeasuredTimes]:
    return lambda host: (host.get("loopback_us") or MeasuredLoopback()).get(way) or MeasuredTimes()


def _disk(what: Literal["read_us", "flush_us"]) -> Callable[[MeasuredHost], MeasuredTimes]:
    return lambda host: (host.get("disk") or MeasuredDisk()).get(what) or MeasuredTimes()


def _loop(statistic: Literal["median", "slowest"]) -> Callable[[MeasuredHost], float | None]:
    def value(host: MeasuredHost) -> float | None:
        speed = _processor(host).get("steps_per_s")
        return speed[statistic] if speed else None

    return value


def _median(name: str, times: Callable[[MeasuredHost], MeasuredTimes], apart: float | None = None) -> Gauge:
    """Return the gauge of a time's median, with its course."""
    return Gauge(f"{name}, median", lambda host: times(host).get("p50"), " µs", apart=apart, over_time=times)


def _p99(name: str, times: Callable[[MeasuredHost], MeasuredTimes]) -> Gauge:
    return Gauge(f"{name}, p99", lambda host: times(host).get("p99"), " µs")


_STEPS = " million steps/s"
_MEMORY = Gauge(
    "copying memory, best", lambda host: _memory(host).get("best_bytes_per_s"), " GB/s", 1e9, 1.5, over_time=_memory
)
_LOOPBACK = _median("loopback round trip, one CPU", _trips("same_cpu"), apart=1.5)
_READ = _median("random read of 4 KiB", _disk("read_us"), apart=2.0)
_FLUSH = _median("write and flush of 4 KiB", _disk("flush_us"), apart=2.0)
_LOOP = Gauge("speed of a fixed loop, median", _loop("median"), _STEPS, 1e6, 1.2, over_time=_loops)
_SLOWEST = Gauge("speed of a fixed loop, slowest 0.1 s", _loop("slowest"), _STEPS, 1e6)
_STEAL = Gauge(
    "processor taken by the hypervisor", lambda host: _processor(host).get("steal_share"), " %", 0.01, over_time=_stolen
)
GAUGES = (
    Gauge("resolution of the clock", lambda host: _clock(host).get("resolution_ns"), " ns"),
    Gauge("reading the clock", lambda host: _clock(host).get("read_ns"), " ns", over_time=_clock),
    _median("sleeping too long (of 100 µs)", _sleeps, apart=2.0),
    _p99("sleeping too long", _sleeps),
    _MEMORY,
    _median("loopback round trip, anywhere", _trips("unpinned")),
    _LOOPBACK,
    _median("loopback round trip, two CPUs", _trips("two_cpus")),
    _READ,
    _p99("random read of 4 KiB", _disk("read_us")),
    _FLUSH,
    _p99("write and flush of 4 KiB", _disk("flush_us")),
    _LOOP,
    _SLOWEST,
    Gauge("speed of it per second of CPU", lambda host: _processor(host).get("steps_per_cpu_s"), _STEPS, 1e6, 1.2),
    _STEAL,
)
"""In the order they are shown. The factors are chosen: another machine, a slower clock or a busy neighbour exceeds
them, and a quiet machine does not. docs/experiments/host.md has measured differences."""


def _parallel(what: Literal["write", "read", "random_write"]) -> Callable[[MeasuredHost], MeasuredRate]:
    return lambda host: (host.get("parallel_disk") or MeasuredParallelDisk()).get(what) or MeasuredRate()


def _together(name: str, what: Literal["write", "read", "random_write"], unit: str, scale: float = 1.0) -> Gauge:
    rate = _parallel(what)
    return Gauge(name, lambda host: rate(host).get("per_s"), unit, scale, over_time=rate)


PARALLEL_GAUGES = (
    _together("reading in order, four threads", "read", " MB/s", 1e6),
    _together("writing in order, four threads", "write", " MB/s", 1e6),
    _together("writing 4 KiB at random, four threads", "random_write", " writes/s"),
)
"""Gauges of `dbdyno host` that no run has."""


def _network(host: MeasuredHost) -> MeasuredNetwork:
    return host.get("network") or MeasuredNetwork()


def _trip_to_host(host: MeasuredHost) -> MeasuredTimes:
    return _network(host).get("round_trip_us") or MeasuredTimes()


NETWORK_GAUGES = (
    _median("round trip to the other host", _trip_to_host),
    _p99("round trip to the other host", _trip_to_host),
    Gauge("bytes to the other host", lambda host: _network(host).get("sent_bytes_per_s"), " MB/s", 1e6),
    Gauge("bytes from the other host", lambda host: _network(host).get("received_bytes_per_s"), " MB/s", 1e6),
)
"""Gauges of `dbdyno host --to`."""
BLOCKS = "▁▂▃▄▅▆▇█"
SKETCHED = 15
WORTH_SAYING = 1.1
"""A host is named if it is worse by at least this factor, however even that is."""
STOLEN = 0.01
"""A host is named if its neighbours take more than this share of its processors."""
_SHORTLY = (
    (_LOOP, "fixed loop"),
    (_SLOWEST, "its slowest 0.1 s"),
    (_STEAL, "stolen"),
    (_MEMORY, "memory copy"),
    (_LOOPBACK, "loopback"),
    (_READ, "disk read"),
    (_FLUSH, "flush"),
)


def course(measured: MeasuredHost, gauge: Gauge) -> list[float | None]:
    """Return a figure in equal slots of the time of its measurement; empty if unknown."""
    return list(_course(measured, gauge).get("slots") or ())


def worst(measured: MeasuredHost, gauge: Gauge) -> list[float | None]:
    """Return the worst value in each slot; empty if unknown."""
    return list(_course(measured, gauge).get("worst") or ())


def slot_s(measured: MeasuredHost, gauge: Gauge) -> float:
    """Return the length of a slot."""
    return _course(measured, gauge).get("slot_s") or 0.0


def _course(measured: MeasuredHost, gauge: Gauge) -> MeasuredCourse:
    return gauge.over_time(measured) if gauge.over_time else MeasuredCourse()


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


def host_in_words(measured: MeasuredHost | None) -> str | None:
    """Return the measurements of a host before a run, in a line; `None` if there are none."""
    if not measured:
        return None
    values = [(gauge, name, gauge.value(measured)) for gauge, name in _SHORTLY]
    said = [f"{name} {gauge.written(value)}" for gauge, name, value in values if value is not None]
    return f"Host before the run: {', '.join(said)}."


def worsened(before: MeasuredHost | None, after: MeasuredHost | None) -> Iterator[str]:
    """Yield what was worse on a host after a run than before it, by more than it varied during the measurements.

    Nine tenths of the slots after were worse than nine tenths of those before, and the median was worse by a tenth.
    """
    if not before or not after:
        return
    for gauge in GAUGES:
        courses = (course(before, gauge), course(after, gauge))
        ours, theirs = ([value for value in values if value is not None] for values in courses)
        if not (len(ours) and len(theirs)) or gauge is _STEAL:
            continue
        medians = [median(values) for values in (ours, theirs)]
        if gauge.is_rate:
            apart, factor = _quantile(ours, 0.1) > _quantile(theirs, 0.9), medians[0] / medians[1]
        else:
            apart, factor = _quantile(ours, 0.9) < _quantile(theirs, 0.1), medians[1] / (medians[0] or 1)
        if apart and factor >= WORTH_SAYING:
            said = " against ".join(gauge.written(value) for value in reversed(medians))
            yield f"{gauge.short}: {said} before the run"


def _quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile, linear between two values. NumPy's, for these few, also loads masked arrays: 15 ms."""
    ordered, rank = sorted(values), share * (len(values) - 1)
    below = ordered[int(rank)]
    return below + (rank - int(rank)) * (ordered[math.ceil(rank)] - below)


def host_differences(ours: MeasuredHost | None, theirs: MeasuredHost | None) -> Iterator[str]:
    """Yield what differs by much between the hosts of two runs, and the share of processors that their neighbours
    took."""
    if not ours or not theirs:
        return
    for gauge in GAUGES:
        values = [value for value in (gauge.value(ours), gauge.value(theirs)) if value]
        if gauge.apart is None or len(values) < 2:
            continue
        factor = max(values) / min(values)
        if factor > gauge.apart:
            said = " against ".join(gauge.written(value) for value in values)
            yield f"between the runs the host differs, {gauge.name}: {said}, a factor of {significant(factor)}"
    stolen = [_STEAL.value(measured) or 0.0 for measured in (ours, theirs)]
    if max(stolen) > STOLEN:
        taken = f"{stolen[0]:.1%} of the processors before the first run, {stolen[1]:.1%} before the second"
        yield f"the hypervisor took {taken}"
