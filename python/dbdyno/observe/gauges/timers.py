"""The clock that everything is timed with, and by how much later than asked the scheduler wakes who sleeps."""

import time
from itertools import pairwise
from typing import Any

from dbdyno.observe.gauges.spread import spread_us

READS = 10_000
ASKED_US = 100
"""A sleep of about the length of one operation."""


def measure_clock() -> dict[str, Any]:
    """Return the monotonic clock's `resolution_ns`, the least step seen, and `read_ns`, what reading it costs."""
    began = time.monotonic_ns()
    seen = [time.monotonic_ns() for _ in range(READS)]
    took = time.monotonic_ns() - began
    steps = [later - earlier for earlier, later in pairwise(seen) if later > earlier]
    # Reads lie further apart than a fine clock's step, so what the kernel states may be less than what was seen.
    stated = round(time.get_clock_info("monotonic").resolution * 1e9)
    return {"resolution_ns": stated, "least_step_ns": min(steps, default=took), "read_ns": round(took / READS, 1)}


def measure_oversleep(seconds: float) -> dict[str, Any]:
    """Return how much longer than asked sleeps of 100 µs lasted, in `seconds` of them.

    The kernel's timer slack, 50 µs for whoever does not ask for less, is in it: so it is in any ordinary program's.
    """
    late: list[int] = []
    end = time.monotonic_ns() + int(seconds * 1e9)
    while not late or time.monotonic_ns() < end:
        began = time.monotonic_ns()
        time.sleep(ASKED_US / 1e6)
        late.append(time.monotonic_ns() - began - ASKED_US * 1000)
    return {"asked_us": ASKED_US, **spread_us(late)}
