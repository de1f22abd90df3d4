"""How many times were measured, and how they spread."""

from collections.abc import Sequence

import numpy as np

NAMES = ("p50", "p99", "max")


def spread_us(times_ns: Sequence[int]) -> dict[str, float]:
    """Return `count`, and `p50`, `p99` and `max` in microseconds, of one time or more in nanoseconds."""
    figures = np.percentile(np.asarray(times_ns), (50, 99, 100)) / 1000
    return {"count": len(times_ns), **{name: round(float(us), 2) for name, us in zip(NAMES, figures, strict=True)}}
