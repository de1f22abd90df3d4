"""How evenly a trial ran, from its throughput second by second (docs/statistics.md, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbdyno.stats.median import median

ENOUGH_SECONDS = 10
"""With fewer seconds than this a floor or a variation is that of one second, and is not stated."""


@dataclass(frozen=True, slots=True)
class Stability:
    """The evenness of one trial; what too few seconds cannot tell is `None`.

    Attributes:
        seconds: how many whole seconds were looked at.
        longest_without_completion_s: the longest run of whole seconds in which nothing completed;
            the time without a completion is up to two seconds longer, as its ends lie within seconds that had some.
        floor: the 1st percentile of the seconds' throughput over their median; 0 if that median is 0.
        seconds_below_half, seconds_below_tenth: seconds under 50 % and 10 % of the median one, or without a completion.
        variation_1s, variation_10s: standard deviation over mean of 1-second and 10-second throughput.
    """

    seconds: int
    longest_without_completion_s: int
    floor: float | None
    seconds_below_half: int | None
    seconds_below_tenth: int | None
    variation_1s: float | None
    variation_10s: float | None


def stability(rate_per_s: np.ndarray) -> Stability:
    """Describe how even a series is.

    Args:
        rate_per_s: completed transactions per second, one value a second without gaps or warm-up, shape (seconds,).
    """
    seconds, stall = len(rate_per_s), _longest_zero_run(rate_per_s)
    if seconds < ENOUGH_SECONDS:
        return Stability(seconds, stall, None, None, None, None, None)
    middle, still = median(rate_per_s), rate_per_s == 0
    tens = rate_per_s[: seconds // 10 * 10].reshape(-1, 10).mean(axis=1)
    return Stability(
        seconds,
        stall,
        float(np.percentile(rate_per_s, 1)) / middle if middle else 0.0,
        int(((rate_per_s < 0.5 * middle) | still).sum()),
        int(((rate_per_s < 0.1 * middle) | still).sum()),
        _variation(rate_per_s),
        _variation(tens) if len(tens) >= ENOUGH_SECONDS else None,
    )


def _longest_zero_run(rate_per_s: np.ndarray) -> int:
    edges = np.flatnonzero(np.concatenate(([True], rate_per_s > 0, [True])))
    return int(np.diff(edges).max()) - 1


def _variation(rate_per_s: np.ndarray) -> float | None:
    mean = float(rate_per_s.mean())
    return float(rate_per_s.std(ddof=1)) / mean if mean else None
