"""How long a store took after a restart until it was warm, from its throughput second by second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SHARE = 0.95
"""Share of the warm rate from which on a system counts as warm."""
WINDOW_S = 3
"""Seconds that must reach it on average: one that was lucky is not warm."""
FEWEST_SECONDS = 8
"""Less has no last quarter to speak of."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """A start into load.

    Attributes:
        warm_per_s: the warm rate, the median of the last quarter of the seconds.
        seconds: after how many seconds of load WINDOW_S seconds reached SHARE of it. `None` if they did so only in that
            last quarter: throughput may still have risen, and the warm rate is a lower bound.
        first_per_s: the first second's throughput.
    """

    warm_per_s: float
    seconds: int | None
    first_per_s: float


def warm_up(rate_per_s: np.ndarray) -> WarmUp | None:
    """Describe a series that begins with a restart; `None` if it is too short or nothing was done at its end.

    Args:
        rate_per_s: completed transactions per second, one value a second from the first on, shape (seconds,).
    """
    if len(rate_per_s) < FEWEST_SECONDS:
        return None
    quarter = len(rate_per_s) // 4
    warm = float(np.median(rate_per_s[-quarter:]))
    if warm == 0:
        return None
    windows = np.convolve(rate_per_s, np.full(WINDOW_S, 1 / WINDOW_S), mode="valid")
    reached = np.flatnonzero(windows >= SHARE * warm)
    in_time = len(reached) > 0 and reached[0] < len(rate_per_s) - quarter
    return WarmUp(warm, int(reached[0]) if in_time else None, float(rate_per_s[0]))
