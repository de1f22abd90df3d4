"""Samples that fall anywhere are put on a trial's seconds, and what was not seen stays unknown."""

import numpy as np
import pytest

from dbdyno.results.samples import Observations
from dbdyno.verdict.seconds import Seconds

EDGES = np.arange(10.0, 15.0)


def seconds(at, **columns):
    named = {name.replace("__", "."): np.array(values, float) for name, values in columns.items()}
    return Seconds(Observations(np.array(at, float), named), EDGES)


def test_what_was_counted_grows_evenly_between_samples():
    counted = [0, 1, 2, 3, 5, 7, 9]
    rates = seconds([9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5], a__b_total=counted).rate("a.b_total")
    assert rates == pytest.approx([1, 1, 1.5, 2])


def test_a_sample_stands_for_the_time_before_it():
    means = seconds([9.5, 10.5, 11.5, 12.5, 13.5, 14.5], a__b=[9, 0, 2, 4, 4, 4]).mean("a.b")
    assert means == pytest.approx([1, 3, 4, 4])


def test_a_second_that_was_hardly_seen_is_not_known():
    at = [9.9, 10.9, 11.9, 12.9, 13.9, 14.9]
    nan = np.nan
    means = seconds(at, a__b=[1, 1, nan, nan, 1, 1]).mean("a.b")
    assert [np.isnan(value) for value in means] == [False, True, True, False]
    assert np.isnan(seconds(at, a__b=[1, 1, 1, 1, 1, 1]).mean("a.c")).all()
    assert np.isnan(seconds(at, a__b_total=[nan] * 5 + [1]).rate("a.b_total")).all()


def test_where_nothing_was_observed_nothing_is_known():
    nothing = Seconds(None, EDGES)
    assert np.isnan(nothing.rate("a.b_total")).all() and np.isnan(nothing.mean("a.b")).all()
    assert len(nothing) == 4
