"""The cost of an event beside the load: throughput and p99 before, during and after it.

docs/statistics.md, section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, stdev
from typing import NamedTuple

import numpy as np

from dbdyno.stats.student_t import quantile

CONFIDENCE = 0.95
RECOVERED = 0.9
"""Service is back in the first second that reaches this share of the throughput before."""
LEAST_OUTAGE_S = 0.1
"""Shorter times without a completed transaction are stalls, not a lack of service."""
MS = 1e6
"""Nanoseconds."""


class Second(NamedTuple):
    """One second of a trial. begin_s: since the run began. p99_ns: `None` with too few samples."""

    begin_s: float
    seconds: float
    completed: int
    p99_ns: float | None


class Spread(NamedTuple):
    """The mean of a figure over repetitions, and its interval; without one for fewer than two."""

    mean: float
    low: float | None
    high: float | None
    repetitions: int


@dataclass(frozen=True, slots=True)
class Disturbance:
    """The figures of one event in one trial. A figure is `None` if there is no second to take it from.

    Attributes:
        before_per_s, during_per_s, after_per_s: transactions per second: the median of the seconds before the first
            event of the trial, the mean while it ran, and the mean from its end until the next event or the end.
        before_p99_ms, during_p99_ms, after_p99_ms: medians of the p99 of these seconds.
        worst_p99_ms: the highest p99 of a second while it ran or after.
        recovered_s: from its end to the first second with `RECOVERED` of the throughput before; `None` if none came.
        without_service_s: how long no transaction was completed, from its begin on, in times of `LEAST_OUTAGE_S` or
            more; `None` if the load client does not record them.
    """

    before_per_s: float | None
    during_per_s: float | None
    after_per_s: float | None
    before_p99_ms: float | None
    during_p99_ms: float | None
    after_p99_ms: float | None
    worst_p99_ms: float | None
    recovered_s: float | None
    without_service_s: float | None

    @property
    def during_change(self) -> float | None:
        """Throughput while it ran against that before, as a share: -0.25 is a quarter less."""
        return _change(self.before_per_s, self.during_per_s)

    @property
    def after_change(self) -> float | None:
        """Throughput after it against that before, as a share."""
        return _change(self.before_per_s, self.after_per_s)


NOTHING = Disturbance(None, None, None, None, None, None, None, None, None)
"""The figures of an event that was not begun."""


class Span(NamedTuple):
    """The times of an event, in seconds since the run began.

    first_s: when the first event of the trial began. end_s: when it ended, or the trial did. until_s: when the next
    event began, or the trial ended.
    """

    first_s: float
    begin_s: float
    end_s: float
    until_s: float


def disturbance(seconds: Sequence[Second], gaps_ns: np.ndarray | None, span: Span) -> Disturbance:
    """Return the figures of an event.

    Args:
        seconds: the measured whole seconds, in order.
        gaps_ns: begin and length of the times without a completion since the run began, int64, shape (n, 2).
    """
    before = [second for second in seconds if _end(second) <= span.first_s]
    during = [second for second in seconds if _end(second) > span.begin_s and second.begin_s < span.end_s]
    after = [second for second in seconds if second.begin_s >= span.end_s and _end(second) <= span.until_s]
    before_per_s = median(map(_rate, before)) if before else None
    return Disturbance(
        before_per_s,
        _mean_rate(during),
        _mean_rate(after),
        _p99_ms(before),
        _p99_ms(during),
        _p99_ms(after),
        max((second.p99_ns / MS for second in (*during, *after) if second.p99_ns is not None), default=None),
        _recovered_s(before_per_s, after, span.end_s),
        None if gaps_ns is None else without_service_s(gaps_ns, span.begin_s, span.until_s),
    )


def without_service_s(gaps_ns: np.ndarray, begin_s: float, until_s: float) -> float:
    """Return how long nothing was completed between two times, in times of at least `LEAST_OUTAGE_S`."""
    if not len(gaps_ns):
        return 0.0
    begins, lengths = gaps_ns[:, 0] / 1e9, gaps_ns[:, 1] / 1e9
    within = np.clip(np.minimum(begins + lengths, until_s) - np.maximum(begins, begin_s), 0, None)
    return float(within[lengths >= LEAST_OUTAGE_S].sum())


def spread(values: Sequence[float]) -> Spread | None:
    """Return mean and interval of a figure over repetitions, by Student's t; `None` without a value."""
    if not values:
        return None
    mean = fmean(values)
    if len(values) < 2:
        return Spread(mean, None, None, len(values))
    half = quantile((1 + CONFIDENCE) / 2, len(values) - 1) * stdev(values) / sqrt(len(values))
    return Spread(mean, mean - half, mean + half, len(values))


def _end(second: Second) -> float:
    return second.begin_s + second.seconds


def _rate(second: Second) -> float:
    return second.completed / second.seconds


def _mean_rate(seconds: Sequence[Second]) -> float | None:
    return sum(second.completed for second in seconds) / sum(map(_length, seconds)) if seconds else None


def _length(second: Second) -> float:
    return second.seconds


def _p99_ms(seconds: Sequence[Second]) -> float | None:
    known = [second.p99_ns / MS for second in seconds if second.p99_ns is not None]
    return median(known) if known else None


def _recovered_s(before_per_s: float | None, after: Sequence[Second], end_s: float) -> float | None:
    if before_per_s is None:
        return None
    back = (second for second in after if _rate(second) >= RECOVERED * before_per_s)
    first = next(back, None)
    return None if first is None else first.begin_s - end_s


def _change(before: float | None, now: float | None) -> float | None:
    return now / before - 1 if before and now is not None else None
