"""Histograms of whole nanoseconds, bucket by bucket as docs/contract.md has them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from dbdyno.contract import HistogramRecord

PRECISION_BITS = 7
LONGEST_NS = 3_600_000_000_000


def bucket_indices(times_ns: np.ndarray) -> np.ndarray:
    """Return the bucket of each of `times_ns`, whole numbers from 0 to LONGEST_NS, int64, shape (n,)."""
    # frexp's exponent is the number of bits; exact, as an hour in nanoseconds has 42 of a double's 53.
    bits = np.frexp(times_ns.astype(np.float64))[1].astype(np.int64)
    exponents = np.maximum(0, bits - 1 - PRECISION_BITS)
    return (exponents << PRECISION_BITS) + (times_ns >> exponents)


@dataclass
class Histogram:
    """Counts of times; merging adds."""

    counts: Counter[int] = field(default_factory=Counter)
    count: int = 0
    sum_ns: int = 0
    min_ns: int = LONGEST_NS
    max_ns: int = 0

    @classmethod
    def of(cls, times_ns: list[int]) -> Histogram:
        """Return the histogram of times in nanoseconds; more than an hour counts as an hour."""
        if not times_ns:
            return cls()
        values = np.minimum(np.array(times_ns, np.int64), LONGEST_NS)
        indices, counts = np.unique(bucket_indices(values), return_counts=True)
        buckets = Counter(dict(zip(indices.tolist(), counts.tolist(), strict=True)))
        return cls(buckets, len(values), int(values.sum()), int(values.min()), int(values.max()))

    def merge(self, other: Histogram) -> None:
        """Add what another process counted."""
        self.counts.update(other.counts)
        self.count += other.count
        self.sum_ns += other.sum_ns
        self.min_ns = min(self.min_ns, other.min_ns)
        self.max_ns = max(self.max_ns, other.max_ns)

    def to_record(self) -> HistogramRecord:
        """Return it as the records have it."""
        buckets = [number for pair in sorted(self.counts.items()) for number in pair]
        min_ns = self.min_ns if self.count else 0
        return {"count": self.count, "sum_ns": self.sum_ns, "min_ns": min_ns, "max_ns": self.max_ns, "buckets": buckets}
