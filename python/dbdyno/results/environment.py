"""Objects of `environment.json` (docs/run-folder.md): their keys, for the type checker.

Any key may be missing: older runs lack some, and a run that ended early has no file. A gauge that could not be read is
`None`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, cast

from dbdyno.results.jsonfiles import read_object


class MeasuredCourse(TypedDict, total=False):
    """A gauge over the time of its measurement: the median and the worst value of each slot; `None` if it has none."""

    slot_s: float
    slots: Sequence[float | None]
    worst: Sequence[float | None]


class MeasuredTimes(MeasuredCourse, total=False):
    """Times in µs."""

    count: int
    p50: float
    p99: float
    max: float


class MeasuredClock(MeasuredCourse, total=False):
    """The monotonic clock."""

    resolution_ns: int
    least_step_ns: int
    read_ns: float


class MeasuredSleeps(MeasuredTimes, total=False):
    """How much longer than asked sleeps lasted."""

    asked_us: int


class MeasuredMemory(MeasuredCourse, total=False):
    """How fast one thread copies memory."""

    copied_bytes: int
    count: int
    best_bytes_per_s: int
    median_bytes_per_s: int


class MeasuredLoopback(TypedDict, total=False):
    """Round trips of one byte; `two_cpus` is `None` on one processor."""

    unpinned: MeasuredTimes | None
    same_cpu: MeasuredTimes | None
    two_cpus: MeasuredTimes | None


class MeasuredDisk(TypedDict, total=False):
    """The data directory's disk; `by` dbdyno or fio."""

    by: str
    direct: bool
    read_us: MeasuredTimes
    flush_us: MeasuredTimes


class MeasuredRate(MeasuredCourse, total=False):
    """How many operations, or bytes, per second."""

    count: int
    per_s: int


class MeasuredParallelDisk(TypedDict, total=False):
    """The data directory's disk under several threads at once."""

    workers: int
    direct: bool
    write: MeasuredRate
    read: MeasuredRate
    random_write: MeasuredRate


class MeasuredNetwork(TypedDict, total=False):
    """The network to another host."""

    to: str
    round_trip_us: MeasuredTimes
    sent_bytes_per_s: int
    received_bytes_per_s: int


class LoopSpeed(TypedDict):
    """The speed of a fixed loop, of all slots."""

    median: int
    slowest: int


class MeasuredProcessor(TypedDict, total=False):
    """The speed of a fixed loop, and the share of all processors' time that the hypervisor took."""

    steps_per_s: LoopSpeed
    steps_per_cpu_s: int | None
    cpu_share: float
    steal_share: float
    slot_s: float
    slots: Sequence[float]
    steal_slots: Sequence[float]


class MeasuredHost(TypedDict, total=False):
    """The host's behaviour; `directory`, `parallel_disk` and `network` are of `dbdyno host` alone."""

    at_unix_s: float
    clock: MeasuredClock | None
    oversleep_us: MeasuredSleeps | None
    memory: MeasuredMemory | None
    loopback_us: MeasuredLoopback | None
    disk: MeasuredDisk | None
    processor: MeasuredProcessor | None
    seconds: float
    not_measured: Mapping[str, str]
    directory: str
    parallel_disk: MeasuredParallelDisk | None
    network: MeasuredNetwork | None


class DescribedHost(TypedDict, total=False):
    """The host as it describes itself."""

    dbdyno: str
    host: str
    python: str
    system: str
    kernel: str
    machine: str
    cpu_model: str | None
    cpus: int | None
    cpus_usable: Sequence[int]
    cpu_governor: str | None
    sched_autogroup: str | None
    memory_bytes: int
    memory_available_bytes: int
    swap_used_bytes: int
    load_average: Sequence[float]
    transparent_hugepage: str | None
    virtualization: Sequence[str]


class Conditions(DescribedHost, total=False):
    """The same with the load client's hash."""

    dbdyno_load_sha256: str


class SessionConditions(Conditions, total=False):
    """The same as a session found it; `measured` is `None` if the experiment asks for no measurement."""

    measured: MeasuredHost | None


class Environment(SessionConditions, total=False):
    """`environment.json`. measured_after: of a run that came to its end. resumed: of each later session."""

    measured_after: MeasuredHost
    resumed: Sequence[SessionConditions]


def read_environment(folder: Path) -> Environment:
    """Return `environment.json` of a run; empty if the run ended before it was written.

    Raises:
        UserError: it cannot be read.
    """
    file = folder / "environment.json"
    return cast(Environment, read_object(file)) if file.is_file() else Environment()
