"""Latency histograms as load clients record them (docs/contract.md, Histograms), and the percentiles they yield."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dbdyno.contract import HistogramRecord

PRECISION_BITS = 7
LONGEST_NS = 3_600_000_000_000
SAMPLES_BEYOND = 10
"""A percentile with fewer samples above it than this is not stated (docs/statistics.md, section 1.2)."""


def bucket_index(value_ns: int) -> int:
    """Return the bucket that counts a value of `value_ns` whole nanoseconds; more than an hour counts as an hour."""
    value = min(value_ns, LONGEST_NS)
    exponent = max(0, value.bit_length() - 1 - PRECISION_BITS)
    return (exponent << PRECISION_BITS) + (value >> exponent)


def bucket_bounds(index: int) -> tuple[int, int]:
    """Return the lowest value of bucket `index` and its width, both in whole nanoseconds."""
    exponent = max(0, (index >> PRECISION_BITS) - 1)
    return (index - (exponent << PRECISION_BITS)) << exponent, 1 << exponent


LAST_BUCKET = bucket_index(LONGEST_NS)


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of whole-nanosecond values in buckets at most 0.8 % wide.

    Attributes:
        indices: the buckets that hold anything, rising; int64, shape (b,).
        counts: how many values each of them holds; int64, shape (b,).
        count: number of values.
        sum_ns, min_ns, max_ns: exact, not rounded to buckets; zero when `count` is.
    """

    indices: np.ndarray
    counts: np.ndarray
    count: int
    sum_ns: int
    min_ns: int
    max_ns: int

    @classmethod
    def from_record(cls, record: HistogramRecord) -> Histogram:
        """Read the histogram of a record.

        Raises:
            ValueError: the buckets do not add up to `count`, lie beyond an hour, or hold a negative number.
        """
        flat = np.fromiter(record["buckets"], np.int64, len(record["buckets"]))
        count = int(record["count"])
        if len(flat) % 2 or int(flat[1::2].sum()) != count:
            raise ValueError(f"a histogram's buckets do not add up to its count of {count}")
        if count == 0:
            return cls.merged([])
        if flat[0] < 0 or flat[-2] > LAST_BUCKET:
            raise ValueError("a histogram's bucket lies outside of 0 to one hour")
        if flat.min() < 0:
            raise ValueError("a histogram's bucket holds less than nothing")
        sums = int(record["sum_ns"]), int(record["min_ns"]), int(record["max_ns"])
        return cls(flat[0::2], flat[1::2], count, *sums)

    @classmethod
    def merged(cls, histograms: Iterable[Histogram]) -> Histogram:
        """Add histograms up, bucket by bucket; of none at all, the empty histogram."""
        parts = [part for part in histograms if part.count]
        if not parts:
            nothing = np.zeros(0, np.int64)
            return cls(nothing, nothing, 0, 0, 0, 0)
        dense = np.zeros(LAST_BUCKET + 1, np.int64)
        for part in parts:
            dense[part.indices] += part.counts
        indices = np.flatnonzero(dense)
        return cls(
            indices,
            dense[indices],
            sum(part.count for part in parts),
            sum(part.sum_ns for part in parts),
            min(part.min_ns for part in parts),
            max(part.max_ns for part in parts),
        )

    def merge(self, other: Histogram) -> Histogram:
        """Return the histogram of this one's values and `other`'s together."""
        return Histogram.merged([self, other])

    @property
    def mean_ns(self) -> float | None:
        """The exact mean in nanoseconds; `None` without a value."""
        return self.sum_ns / self.count if self.count else None

    def percentile_ns(self, percent: float) -> float | None:
        """Return the value in nanoseconds that `percent` (0 to 100) of all values do not exceed, known to within 0.8 %.

        It is the middle of the bucket that holds the value of rank ceil(count · percent / 100), kept within the exact
        minimum and maximum. `None` when fewer than `SAMPLES_BEYOND` values lie beyond it: say the maximum instead.
        """
        # Without the small step back 99.9 % of 10,000 is rank 9,991: 99.9 / 100 * 10_000 is 9990.000000000002.
        rank = max(1, math.ceil(self.count * percent / 100 - 1e-6))
        if self.count - rank < SAMPLES_BEYOND:
            return None
        lowest, width = bucket_bounds(int(self.indices[np.searchsorted(np.cumsum(self.counts), rank)]))
        return float(min(max(lowest + (width - 1) / 2, self.min_ns), self.max_ns))
