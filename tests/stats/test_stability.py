"""Floors, stalls and variation of series whose answer is plain to see."""

import numpy as np
import pytest

from dbdyno.stats.stability import stability


def test_an_even_series_has_its_floor_at_its_median():
    even = stability(np.full(100, 500.0))
    assert (even.floor, even.longest_without_completion_s, even.seconds_below_half, even.variation_1s) == (
        1.0,
        0,
        0,
        0.0,
    )
    assert even.variation_10s == 0.0


def test_stalls_and_drops_are_found():
    series = np.full(60, 1000.0)
    series[10:14] = 0
    series[30] = 0
    series[40:45] = 400
    steadiness = stability(series)
    assert (steadiness.longest_without_completion_s, steadiness.seconds_below_half, steadiness.seconds_below_tenth) == (
        4,
        10,
        5,
    )
    assert steadiness.floor == 0


def test_a_stall_at_either_end_counts():
    assert stability(np.array([0, 0, 5.0, 0, 0, 0])).longest_without_completion_s == 3
    assert stability(np.zeros(4)).longest_without_completion_s == 4


def test_too_short_to_tell():
    short = stability(np.array([100.0, 90.0]))
    assert (short.seconds, short.floor, short.variation_1s) == (2, None, None)
    assert stability(np.zeros(0)).longest_without_completion_s == 0


def test_variation_against_the_definition():
    series = np.random.default_rng(3).normal(1000, 100, 300)
    steadiness = stability(series)
    assert steadiness.variation_1s == pytest.approx(np.std(series, ddof=1) / np.mean(series))
    assert steadiness.variation_10s < steadiness.variation_1s


def test_a_series_that_stood_still_in_most_seconds_is_not_one_too_short_to_tell():
    steadiness = stability(np.array([0.0] * 12 + [10.0] * 8))
    assert (steadiness.floor, steadiness.seconds_below_half, steadiness.seconds_below_tenth) == (0, 12, 12)
    assert steadiness.variation_1s == pytest.approx(1.2566, abs=0.001)
    assert (stability(np.zeros(20)).floor, stability(np.zeros(20)).variation_1s) == (0, None)
