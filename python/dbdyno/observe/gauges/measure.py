"""All gauges one after the other: for a few seconds when asked, and shortly before every run."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dbdyno.observe.gauges import fio
from dbdyno.observe.gauges.loopback import measure_loopback
from dbdyno.observe.gauges.memory import measure_memory
from dbdyno.observe.gauges.parallel import measure_parallel_disk
from dbdyno.observe.gauges.processor import measure_processor
from dbdyno.observe.gauges.storage import measure_storage
from dbdyno.observe.gauges.timers import measure_clock, measure_oversleep
from dbdyno.results.environment import MeasuredHost

T = TypeVar("T")


@dataclass(frozen=True)
class Effort:
    """How long each gauge takes, in seconds: loopback and parallel disk three times that, storage twice.

    with_fio: leave the disk to fio if it is installed. Runs always measure it in the same way, so that they
    can be compared. parallel_s: 0 leaves the parallel disk out.
    """

    clock_s: float
    oversleep_s: float
    memory_s: float
    loopback_s: float
    storage_s: float
    processor_s: float
    with_fio: bool
    parallel_s: float = 0.0


SHORT = Effort(0.05, 0.2, 0.15, 0.1, 0.2, 0.6, with_fio=False)
"""Before a run: about two seconds, under three."""
FULL = Effort(0.5, 1.0, 1.0, 1.0, 2.0, 5.0, with_fio=True, parallel_s=1.5)
"""`dbdyno host`: about 20 s."""


def measure_host(directory: Path, effort: Effort | None = None) -> MeasuredHost:
    """Return what the host does (docs/run-folder.md, environment.json), at first the shortest.

    A gauge that cannot be measured is None, and `not_measured` says why. directory: where private servers keep their
    data.
    """
    effort = effort or SHORT
    began = time.time()
    storage = fio.measure_by_fio if effort.with_fio and fio.is_installed() else measure_storage
    not_measured: dict[str, str] = {}

    def tried(name: str, gauge: Callable[[], T]) -> T | None:
        try:
            return gauge()
        except OSError as error:
            not_measured[name] = str(error)
            return None

    measured: MeasuredHost = {
        "at_unix_s": began,
        "clock": tried("clock", lambda: measure_clock(effort.clock_s)),
        "oversleep_us": tried("oversleep_us", lambda: measure_oversleep(effort.oversleep_s)),
        "memory": tried("memory", lambda: measure_memory(effort.memory_s)),
        "loopback_us": tried("loopback_us", lambda: measure_loopback(effort.loopback_s)),
        "disk": tried("disk", lambda: storage(directory, effort.storage_s)),
        "processor": tried("processor", lambda: measure_processor(effort.processor_s)),
        "not_measured": not_measured,
    }
    if effort.parallel_s:
        measured["parallel_disk"] = tried("parallel_disk", lambda: measure_parallel_disk(directory, effort.parallel_s))
    return {**measured, "seconds": round(time.time() - began, 2)}
