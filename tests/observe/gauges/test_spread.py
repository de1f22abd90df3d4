"""Nanoseconds become microseconds, with the percentiles people ask for; and what went on in which part of the time."""

from dbdyno.observe.gauges.spread import SLOTS, over_time, spread_us


def test_a_spread_is_of_all_times():
    spread = spread_us([1000 * n for n in range(1, 102)], range(0, 101_000_000_000, 1_000_000_000))
    assert {key: spread[key] for key in ("count", "p50", "p99", "max")} == {
        "count": 101,
        "p50": 51.0,
        "p99": 100.0,
        "max": 101.0,
    }
    single = spread_us([2500], [7])
    assert (single["p50"], single["p99"], single["max"], single["slots"], single["worst"]) == (
        2.5,
        2.5,
        2.5,
        [2.5],
        [2.5],
    )


def test_a_stall_is_where_it_was():
    at_ns = list(range(0, 1_000_000_000, 1_000_000))
    values = [10.0] * 1000
    values[500:510] = [900.0] * 10
    timeline = over_time(values, at_ns)
    assert timeline["slot_s"] == 0.05 and timeline["slots"] == [10.0] * SLOTS
    assert timeline["worst"] == [10.0] * 10 + [900.0] + [10.0] * 9


def test_of_rates_the_lowest_is_the_worst():
    assert over_time([3.0, 1.0, 2.0], [0, 1, 2], lower_is_worse=True)["worst"] == [3, 1, 2]


def test_where_one_value_took_longer_than_a_part_of_the_time_there_is_none():
    timeline = over_time([1.0, 80.0, 2.0], [0, 10, 90], 1)
    assert timeline["slots"] == [40.5, None, 2.0] and timeline["worst"] == [80.0, None, 2.0]
