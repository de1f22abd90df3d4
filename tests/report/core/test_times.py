"""Recorded times are shown in microseconds; an open loop has more of them."""

from dataclasses import dataclass

import pytest

from dbdyno.report.core.times import recorded_times_us
from dbdyno.results.slowest import Slow
from dbdyno.stats.histogram import Histogram


@dataclass
class Timed:
    """The times of an operation."""

    service_time: Histogram
    response_time: Histogram | None = None
    send_lag: Histogram | None = None
    slowest: tuple[Slow, ...] = (Slow(5000, 3),)


def histogram(count):
    return Histogram.from_record(
        {"count": count, "sum_ns": 2000 * count, "min_ns": 2000, "max_ns": 2000, "buckets": [633, count]}
    )


def test_times_are_in_microseconds_and_too_few_tell_no_percentile():
    times = recorded_times_us(Timed(histogram(5)))
    assert (times["count"], times["service_time_us"]["mean"], times["service_time_us"]["max"]) == (5, 2.0, 2.0)
    assert times["service_time_us"]["p99"] is None
    assert times["slowest"] == [{"time_us": 5.0, "second": 3}]
    assert "response_time_us" not in times and "send_lag_us" not in times


def test_an_open_loop_has_three_times():
    times = recorded_times_us(Timed(histogram(5000), histogram(5000), histogram(5000)))
    assert times["response_time_us"]["p99"] == pytest.approx(2.0, rel=0.01)
    assert times["send_lag_us"]["mean"] == 2.0
