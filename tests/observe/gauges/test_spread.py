"""Nanoseconds become microseconds, with the percentiles people ask for."""

from dbdyno.observe.gauges.spread import spread_us


def test_a_spread_is_of_all_times():
    assert spread_us([1000 * n for n in range(1, 102)]) == {"count": 101, "p50": 51.0, "p99": 100.0, "max": 101.0}
    assert spread_us([2500]) == {"count": 1, "p50": 2.5, "p99": 2.5, "max": 2.5}
