"""The cost of an event is against the seconds before the first, and service counts from its begin on."""

import numpy as np
import pytest

from dbdyno.stats.disturbance import Second, Span, disturbance, spread, without_service_s


def seconds(*rates, p99_ms=10.0):
    return [Second(float(index), 1.0, rate, p99_ms * 1e6) for index, rate in enumerate(rates)]


def test_before_during_and_after():
    course = seconds(90, 100, 110, 100, 50, 20, 0, 80, 95, 100)
    cost = disturbance(course, np.empty((0, 2), np.int64), Span(4.2, 4.2, 6.5, 10.0))
    assert (cost.before_per_s, cost.during_per_s) == (100, pytest.approx(70 / 3))
    assert (cost.after_per_s, cost.during_change) == (pytest.approx(275 / 3), pytest.approx(-0.7667, abs=1e-4))
    assert cost.after_change == pytest.approx(-0.0833, abs=1e-4)
    # It ended at 6.5; the second from 8 on has 95 of 100.
    assert cost.recovered_s == 1.5 and cost.without_service_s == 0


def test_a_second_event_is_held_against_the_time_before_the_first():
    course = seconds(100, 100, 100, 10, 60, 60, 60, 30)
    first = disturbance(course, None, Span(3.0, 3.0, 3.9, 7.0))
    second = disturbance(course, None, Span(3.0, 7.0, 8.0, 8.0))
    assert (first.during_per_s, first.after_per_s, first.recovered_s) == (10, 60, None)
    assert (second.before_per_s, second.during_per_s, second.after_per_s) == (100, 30, None)
    assert first.without_service_s is None


def test_the_p99_is_the_median_of_the_seconds_that_have_one():
    course = [Second(float(index), 1.0, 100, p99) for index, p99 in enumerate((1e6, 3e6, None, 8e6, None, 2e6))]
    cost = disturbance(course, None, Span(3.0, 3.0, 4.0, 6.0))
    assert (cost.before_p99_ms, cost.during_p99_ms, cost.after_p99_ms, cost.worst_p99_ms) == (2, 8, 2, 8)
    assert disturbance([], None, Span(3.0, 3.0, 4.0, 6.0)).before_per_s is None


def test_service_is_missing_for_as_long_as_nothing_was_completed():
    ms = 1_000_000
    gaps_ns = np.array([[1000 * ms, 500 * ms], [2000 * ms, 50 * ms], [2900 * ms, 400 * ms], [9000 * ms, 2000 * ms]])
    # 50 ms are a stall; half of the first gap was before, and a second of the last is after.
    assert without_service_s(gaps_ns, 1.25, 10.0) == pytest.approx(0.25 + 0.4 + 1.0)


def test_repetitions_have_an_interval_and_a_single_trial_has_none():
    assert spread([]) is None and spread([3.0]) == (3.0, None, None, 1)
    mean, low, high, repetitions = spread([8.0, 10.0, 12.0])
    # Student's t for two degrees of freedom is 4.303, the standard error is 2 / sqrt(3).
    assert (mean, repetitions) == (10.0, 3) and (low, high) == (
        pytest.approx(5.032, abs=1e-3),
        pytest.approx(14.968, abs=1e-3),
    )
