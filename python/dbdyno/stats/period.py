"""Cycles in a throughput series, such as checkpoints: their period, or none (docs/statistics.md, section 2)."""

from __future__ import annotations

import numpy as np

from dbdyno.stats.segments import SIGMA_PER_MAD, mad

SHORTEST_PERIOD_S, LONGEST_PERIOD_S = 10, 120
LEAST_CYCLES = 3
"""How often a cycle must have been seen: two stalls are no cycle."""
LEAST_CORRELATION = 0.3
CLIP_MADS = 4.0
"""Residuals are limited to this many σ̂, or two long stalls correlate at their distance."""
AS_HIGH = 0.85
"""A cycle also peaks at its multiples; the first peak this near to the highest is the cycle."""


def period_s(rate_per_s: np.ndarray) -> int | None:
    """Return the period in whole seconds of a cycle of 10 to 120 s, or `None` if there is none.

    A cycle is a peak above 0.3 of the autocorrelation of the series without its running median, seen at least three
    times.
    The peak must rise as much above the lowest value before it: noise that is correlated from second to second decays
    slowly and has no valley.

    Args:
        rate_per_s: throughput of consecutive whole seconds, shape (seconds,).
    """
    longest = min(LONGEST_PERIOD_S, len(rate_per_s) // LEAST_CYCLES)
    if longest <= SHORTEST_PERIOD_S:
        return None
    correlation = _autocorrelation(_detrended(rate_per_s, longest), longest + 1)
    lags = np.arange(SHORTEST_PERIOD_S, longest + 1)
    here = correlation[lags]
    peak = (here >= correlation[lags - 1]) & (here >= correlation[lags + 1])
    rise = here - np.minimum.accumulate(correlation)[lags]
    peaks = lags[peak & (here > LEAST_CORRELATION) & (rise > LEAST_CORRELATION)]
    if not len(peaks):
        return None
    return int(peaks[correlation[peaks] >= AS_HIGH * correlation[peaks].max()][0])


def _detrended(values: np.ndarray, longest: int) -> np.ndarray:
    """The residuals from the running median of one longest cycle to either side, limited."""
    half = min(longest, len(values) - 1)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(values, half, "reflect"), 2 * half + 1)
    rest = values - np.median(around, axis=1)
    # The MAD of a cycle without noise can be 0.
    limit = CLIP_MADS * SIGMA_PER_MAD * mad(rest) or float(rest.std())
    return np.asarray(np.clip(rest, -limit, limit))


def _autocorrelation(values: np.ndarray, longest: int) -> np.ndarray:
    """The autocorrelation at lags 0 to `longest`; zeros for a constant."""
    centred = values - values.mean()
    size = 2 * len(centred)
    power = np.fft.irfft(np.abs(np.fft.rfft(centred, size)) ** 2, size)[: longest + 1]
    return power / power[0] if power[0] > 0 else np.zeros(longest + 1)
