"""Memory bandwidth: copying what no cache holds."""

import time

import numpy as np
import psutil

from dbdyno.observe.gauges.spread import over_time
from dbdyno.results.environment import MeasuredMemory

COPIED_BYTES = 64 << 20
"""More than the caches that a processor of today has for one core; smaller if memory is short."""
FEWEST = 3
"""Copies: one alone may have lost its processor."""
LARGEST_SHARE = 16
"""Both arrays together take at most an eighth of what is available."""


def measure_memory(seconds: float) -> MeasuredMemory:
    """Return how fast one thread copies, in bytes copied per second: each is read once and written once.

    best, median: of whole copies, as many as `seconds` have room for; and over time.
    """
    size = min(COPIED_BYTES, psutil.virtual_memory().available // LARGEST_SHARE)
    # Not zeros: the kernel gives those their memory only when they are written to, which took ten times the copy.
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    rates: list[float] = []
    at_ns: list[int] = []
    end = time.monotonic_ns() + int(seconds * 1e9)
    while len(rates) < FEWEST or time.monotonic_ns() < end:
        at_ns.append(time.monotonic_ns())
        np.copyto(target, source)
        rates.append(size * 1e9 / (time.monotonic_ns() - at_ns[-1]))
    return {
        "copied_bytes": size,
        "count": len(rates),
        "best_bytes_per_s": round(max(rates)),
        "median_bytes_per_s": round(float(np.median(rates))),
        **over_time(rates, at_ns, lower_is_worse=True),
    }
