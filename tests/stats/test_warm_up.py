"""A store is warm when three seconds reach 95 % of what its last quarter does."""

import numpy as np

from dbdyno.stats.warm_up import warm_up


def test_a_rise_ends_where_three_seconds_are_warm():
    rise = warm_up(np.array([10, 40, 70, 90, 100, 100, 100, 100, 100, 100, 100, 100], float))
    assert (rise.warm_per_s, rise.seconds, rise.first_per_s) == (100.0, 3, 10.0)


def test_one_lucky_second_is_not_warm():
    assert warm_up(np.array([10, 100, 10, 10] + [100] * 12, float)).seconds == 4


def test_who_is_warm_from_the_first_second_took_none():
    assert warm_up(np.full(8, 5.0)).seconds == 0


def test_what_still_rises_is_not_known():
    assert warm_up(np.arange(1.0, 21.0)).seconds is None


def test_too_short_or_standing_still_says_nothing():
    assert warm_up(np.ones(7)) is None
    assert warm_up(np.array([5.0] * 8 + [0.0] * 8)) is None
