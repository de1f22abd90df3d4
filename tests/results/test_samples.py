"""Rates and means come from observed samples, and never from too few."""

from dataclasses import replace

import numpy as np
import pytest

from dbdyno.results.samples import Observations

NAN = np.nan


def observed(at, **columns):
    return Observations(np.array(at, float), {name: np.array(values, float) for name, values in columns.items()})


def test_a_rate_is_the_growth_since_the_last_sample_that_saw_it():
    seen = observed([0, 1, 2, 4], x_total=[10, 12, NAN, 18])
    np.testing.assert_array_equal(seen.rate("x_total"), [NAN, 2, NAN, 2])
    assert np.isnan(seen.rate("y_total")).all()


def test_what_began_anew_has_no_rate_then():
    seen = observed(range(5), x_total=[10, 20, 3, 13, 23])
    np.testing.assert_array_equal(seen.rate("x_total"), [NAN, 10, NAN, 10, 10])
    assert seen.mean_rate("x_total", 0, 4) == pytest.approx(10)


def test_a_mean_rate_is_taken_between_samples_at_the_windows_ends():
    seen = observed([0, 1, 2, 3], x_total=[0, 1, 3, 6])
    assert seen.mean_rate("x_total", 0.5, 2.5) == pytest.approx((0.5 + 2 + 1.5) / 2)
    assert seen.mean_rate("x_total", -1, 4) == pytest.approx(2)


def test_a_window_that_was_hardly_seen_has_no_mean_rate():
    seen = observed([0, 1, 2], x_total=[0, 1, 2], once_total=[NAN, 1, NAN])
    assert seen.mean_rate("x_total", 0, 4.5) is None
    assert seen.mean_rate("x_total", 5, 9) is None
    assert seen.mean_rate("x_total", 1, 1) is None
    assert seen.mean_rate("once_total", 0, 2) is None
    assert seen.mean_rate("y_total", 0, 2) is None


def test_a_mean_is_of_the_samples_within_that_saw_it():
    seen = observed([0, 1, 2, 3], x=[9, 1, NAN, 3])
    assert seen.mean("x", 0, 3) == 2
    assert seen.mean("x", 1, 2) is None
    assert seen.mean("y", 0, 3) is None


def test_what_is_left_out_is_in_no_mean_and_not_missed():
    times = range(7)
    seen = observed(times, x_total=[0, 1, 2, 102, 202, 203, 204], x=[0, 1, 2, 50, 60, 3, 4])
    left_out = replace(seen, left_out=((2, 4),))
    assert seen.mean_rate("x_total", 0, 6) == 34 and left_out.mean_rate("x_total", 0, 6) == 1
    assert left_out.mean("x", 0, 6) == pytest.approx((1 + 2 + 3 + 4) / 4)
    hardly = observed([0, 1, 5, 6], x_total=[0, 1, 100, 101])
    assert replace(hardly, left_out=((1, 5),)).mean_rate("x_total", 0, 6) == 1
    assert replace(seen, left_out=((0, 6),)).mean_rate("x_total", 0, 6) is None
