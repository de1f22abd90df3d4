"""The median, for commands that need little else of NumPy."""

import numpy as np


def median(values: np.ndarray) -> float:
    """Return the median of at least one value, none of which is NaN. `np.median` also loads masked arrays: 15 ms."""
    ordered, middle = np.sort(values), len(values) // 2
    return float(ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)
