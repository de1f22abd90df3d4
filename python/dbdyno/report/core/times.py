"""Recorded times as a report shows them: percentiles in microseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from dbdyno.results.model import Operation, Recorded
    from dbdyno.stats.histogram import Histogram

Times = Mapping[str, float | None]
"""Statistics of one kind of time in µs: mean, p50, p95, p98, p99, p999 and max; `None` with too few samples."""
TimeName = Literal["service_time_us", "response_time_us"]
PERCENTILES = {"p50": 50.0, "p95": 95.0, "p98": 98.0, "p99": 99.0, "p999": 99.9}


class SlowDocument(TypedDict):
    """One of the slowest times, and the second it ended in."""

    time_us: float
    second: int


class OpenTimesDocument(TypedDict, total=False):
    """The times that only an open loop has."""

    response_time_us: Times
    send_lag_us: Times


class TimedDocument(OpenTimesDocument):
    """Times of a transaction or of an operation."""

    count: int
    service_time_us: Times
    slowest: Sequence[SlowDocument]


def recorded_times_us(of: Recorded | Operation) -> TimedDocument:
    """Return the known times: the service time, in an open loop also response time and send lag, and the slowest."""
    open_loop: OpenTimesDocument = {}
    if of.response_time is not None:
        open_loop["response_time_us"] = _statistics_us(of.response_time)
    if of.send_lag is not None:
        open_loop["send_lag_us"] = _statistics_us(of.send_lag)
    return {
        "count": of.service_time.count,
        "service_time_us": _statistics_us(of.service_time),
        **open_loop,
        "slowest": [{"time_us": slow.time_ns / 1000, "second": slow.second} for slow in of.slowest],
    }


def _statistics_us(histogram: Histogram) -> dict[str, float | None]:
    mean_ns = histogram.mean_ns
    times = {"mean": mean_ns, **{name: histogram.percentile_ns(percent) for name, percent in PERCENTILES.items()}}
    times["max"] = histogram.max_ns if histogram.count else None
    return {name: None if time_ns is None else time_ns / 1000 for name, time_ns in times.items()}
