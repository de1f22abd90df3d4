"""The clock that everything is timed with, and by how much later than asked the scheduler wakes who sleeps."""

import sys
import time
from itertools import pairwise

import numpy as np

from dbdyno.observe.gauges.spread import over_time, spread_us
from dbdyno.results.environment import MeasuredClock, MeasuredSleeps

READS = 500
"""Reads of the clock in one measurement of its cost."""
ASKED_US = 100
"""A sleep of about the length of one operation."""


def measure_clock(seconds: float) -> MeasuredClock:
    """Return the monotonic clock's `resolution_ns`, `least_step_ns`, the least that was observed in `seconds`, and
    what reading it costs: `read_ns`, the median, and over time.
    """
    costs_ns: list[float] = []
    at_ns: list[int] = []
    least = sys.maxsize
    end = time.monotonic_ns() + int(seconds * 1e9)
    while not at_ns or at_ns[-1] < end:
        at_ns.append(time.monotonic_ns())
        seen = [time.monotonic_ns() for _ in range(READS)]
        took = time.monotonic_ns() - at_ns[-1]
        costs_ns.append(took / READS)
        least = min(least, *(later - earlier for earlier, later in pairwise(seen) if later > earlier), took)
    # Reads lie further apart than a fine clock's step, so the kernel may state less than was observed.
    stated = round(time.get_clock_info("monotonic").resolution * 1e9)
    price_ns = round(float(np.median(costs_ns)), 1)
    return {"resolution_ns": stated, "least_step_ns": least, "read_ns": price_ns, **over_time(costs_ns, at_ns, 1)}


def measure_oversleep(seconds: float) -> MeasuredSleeps:
    """Return how much longer than asked sleeps of 100 µs lasted, in `seconds` of them.

    The kernel's timer slack, 50 µs for whoever does not ask for less, is in it: so it is in any ordinary program's.
    """
    late: list[int] = []
    at_ns: list[int] = []
    end = time.monotonic_ns() + int(seconds * 1e9)
    while not late or time.monotonic_ns() < end:
        began = time.monotonic_ns()
        time.sleep(ASKED_US / 1e6)
        late.append(time.monotonic_ns() - began - ASKED_US * 1000)
        at_ns.append(began)
    return {"asked_us": ASKED_US, **spread_us(late, at_ns)}
