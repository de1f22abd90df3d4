"""The slowest of an operation's times in a trial: how long each took, and in which second it ended."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dbdyno.stats.histogram import Histogram, bucket_bounds

MOST = 10
"""How many are kept: a worst time alone does not tell one stall from many."""


class Slow(NamedTuple):
    """One of the slowest.

    Attributes:
        time_ns: to within 0.8 %, the longest of its second exactly.
        second: counted from the start of the run phase, warm-up included.
    """

    time_ns: float
    second: int


def slowest(seconds: Iterable[tuple[int, Histogram]]) -> tuple[Slow, ...]:
    """Return the `MOST` longest times, the longest first, or as many as there are.

    Args:
        seconds: each second's number and the times of what ended in it.
    """
    # As many seconds as times are wanted suffice: those whose longest are the longest hold that many already.
    worst = heapq.nlargest(MOST, seconds, key=lambda second: second[1].max_ns)
    times = [Slow(time_ns, second) for second, histogram in worst for time_ns in _longest_ns(histogram)]
    return tuple(heapq.nlargest(MOST, times))


def _longest_ns(histogram: Histogram) -> list[float]:
    if not histogram.count:
        return []
    last = slice(-MOST, None)
    middles = [lowest + (width - 1) / 2 for lowest, width in map(bucket_bounds, histogram.indices[last].tolist())]
    times_ns = np.repeat(middles, np.minimum(histogram.counts[last], MOST)).clip(histogram.min_ns, histogram.max_ns)
    return [*times_ns[-MOST:-1].tolist(), float(histogram.max_ns)]
