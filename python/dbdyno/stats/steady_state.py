"""Finds a trial's steady state, if it has one, in its throughput per second (docs/statistics.md, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dbdyno.stats.period import period_s
from dbdyno.stats.segments import SIGMA_PER_MAD, mad, penalty, segments

SHORTEST_S = 30
"""A shorter series says "too short to tell"."""
BATCH_S, SHORT_BATCH_S = 10, 6
"""The length of a batch without a period, and that in a trial of one to two minutes, which has few."""
SHORTEST_SEGMENT = 3
"""Batches in a segment, at least."""
OUTLIER_MADS = 4.0
"""An isolated batch further than this from its neighbours' median is a stall, not a level."""
SAME_LEVEL = 0.03
"""Segments whose means differ by at most this are one level."""
LEAST_KEPT = 0.5
"""The share of the trial's seconds that must be kept."""
MOST_DRIFT = 0.05
"""The change over the kept part, by its Theil–Sen line, that still counts as steady."""
LEAST_NOISE = 0.001
"""Noise below this share of the median is taken for this."""

FLAT, WARM_UP, SLOWDOWN, DRIFTING = "flat", "warm-up", "slowdown", "drifting"
NO_STEADY_STATE, TOO_SHORT = "no steady state", "too short to tell"


@dataclass(frozen=True, slots=True)
class SteadyState:
    """The steady state of one trial; if there is none, the part that comes nearest to one.

    Attributes:
        kind: `flat`, `warm-up`, `slowdown`, `periodic(60 s)`, `drifting`, `no steady state` or `too short to tell`.
        steady: whether there is a steady state; only then may `mean_per_s` be quoted as the trial's.
        cut_s: seconds before the part that was kept; known to a batch.
        kept: the share of the series after the cut, 0 to 1.
        period_s: the period of a detected cycle, in seconds, whatever the class.
        drift: change over the kept part, by its Theil–Sen line, as a share of its median; −0.05 is 5 % down.
        drift_per_hour: the same, extrapolated to an hour: of a short trial it is mostly noise.
        mean_per_s: over the raw seconds after the cut, stalls included.
    """

    kind: str
    steady: bool
    cut_s: int
    kept: float
    period_s: int | None
    drift: float | None
    drift_per_hour: float | None
    mean_per_s: float | None


def steady_state(rate_per_s: np.ndarray) -> SteadyState:
    """Find a trial's steady state.

    Args:
        rate_per_s: throughput of consecutive whole seconds, shape (seconds,).
    """
    seconds = len(rate_per_s)
    if seconds < SHORTEST_S:
        return SteadyState(TOO_SHORT, False, 0, 1.0, None, None, None, _mean(rate_per_s))
    period = period_s(rate_per_s)
    length = period or (SHORT_BATCH_S if 60 <= seconds < 120 else BATCH_S)
    levels = _batches(rate_per_s, length, np.mean if period else np.median)
    if not np.median(levels) > 0:
        return SteadyState(NO_STEADY_STATE, False, 0, 1.0, period, None, None, _mean(rate_per_s))
    # The last batch that may be the first one kept. Seconds too few for a batch count: they are part of the trial.
    latest = len(levels) - LEAST_KEPT * seconds / length
    first = _first_kept(levels, latest)
    # Batches are counted from the end; what is left over at the start belongs to the first one.
    cut_s = seconds - (len(levels) - first) * length if first else 0
    drift = _drift(levels[first:])
    kept = 1 - cut_s / seconds
    kind = _kind(levels, first, drift, period) if first <= latest else NO_STEADY_STATE
    steady = kind not in (DRIFTING, NO_STEADY_STATE)
    per_hour = drift * 3600 / (seconds - cut_s)
    return SteadyState(kind, steady, cut_s, kept, period, drift, per_hour, _mean(rate_per_s[cut_s:]))


def _mean(rate_per_s: np.ndarray) -> float | None:
    return float(rate_per_s.mean()) if len(rate_per_s) else None


def _batches(rate_per_s: np.ndarray, length: int, level: Callable[..., np.ndarray]) -> np.ndarray:
    """The level of each batch, counted from the end, with isolated outliers replaced by their neighbours' median.

    The first batch is never replaced: a low one there is what a warm-up looks like.
    """
    count = len(rate_per_s) // length
    levels = level(rate_per_s[len(rate_per_s) - count * length :].reshape(count, length), axis=1)
    around = np.median(np.lib.stride_tricks.sliding_window_view(np.pad(levels, 2, "reflect"), 5), axis=1)
    away = np.abs(levels - around)
    spread = max(OUTLIER_MADS * SIGMA_PER_MAD * mad(levels - around), LEAST_NOISE * float(np.median(levels)))
    out = away > spread
    alone = out & ~np.concatenate(([True], out[:-1])) & ~np.concatenate((out[1:], [False]))
    return np.where(alone, around, levels)


def _first_kept(levels: np.ndarray, latest: float) -> int:
    """The first batch of the last level: from the end back over segments of the same mean.

    If that keeps too little, as it is later than `latest`, a slope is tried: a straight line is not a stair, but is
    cut into one. It is taken if it describes the batches, from the start or from the end of a segment on, at a lower
    cost than the stair does.
    """
    cost = penalty(levels, LEAST_NOISE * float(np.median(levels)))
    pieces = segments(levels, cost, SHORTEST_SEGMENT)
    first = pieces[-1][0]
    for begin, end in reversed(pieces[:-1]):
        level = levels[first:].mean()
        if abs(levels[begin:end].mean() - level) > SAME_LEVEL * level:
            break
        first = begin
    stair = np.concatenate([levels[begin:end] - levels[begin:end].mean() for begin, end in pieces])
    # A slope that is cut into a stair has a last step too, however much of it is kept.
    begins = [begin for begin, _ in pieces] if first > latest else [0]
    for begin in begins:
        cuts = sum(other > begin for other, _ in pieces)
        if begin <= latest and cuts:
            line = _line_error(levels[begin:]) + cost
            if line < float((stair[begin:] ** 2).sum()) + cuts * cost:
                return begin
    return first


def _line_error(values: np.ndarray) -> float:
    """The squared error of the best straight line through the values."""
    times = np.arange(len(values)) - (len(values) - 1) / 2
    centred = values - values.mean()
    return float((centred**2).sum() - (times @ centred) ** 2 / (times @ times))


def _drift(levels: np.ndarray) -> float:
    """The change over all batches by the Theil–Sen line, as a share of their median; −1 if that is 0."""
    earlier, later = np.triu_indices(len(levels), 1)
    level = float(np.median(levels))
    if not len(earlier) or level <= 0:
        return -1.0
    slope = np.median((levels[later] - levels[earlier]) / (later - earlier))
    return float(slope * len(levels) / level)


def _kind(levels: np.ndarray, first: int, drift: float, period: int | None) -> str:
    """The class of a trial of which enough is kept."""
    if abs(drift) > MOST_DRIFT:
        return DRIFTING
    if first == 0:
        return FLAT if period is None else f"periodic({period} s)"
    return WARM_UP if levels[:first].mean() < levels[first:].mean() else SLOWDOWN
