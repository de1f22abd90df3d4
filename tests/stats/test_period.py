"""Cycles are found with their own period, not a multiple; stalls, trends and slow noise are no cycles."""

import numpy as np
import pytest

from dbdyno.stats.period import period_s

from .synthetic_series import ar1


@pytest.mark.parametrize("period", [10, 15, 30, 60, 90, 120])
def test_dips_are_found_at_their_period(period):
    time_s = np.arange(600)
    for seed in range(10):
        noise = ar1(np.random.default_rng(seed), 600, 0.03, 0.5)
        dips = np.where((time_s + seed) % period < max(3, period // 6), 0.6, 1.0)
        assert period_s(1000 * dips * noise) == pytest.approx(period, abs=1)


def test_two_stalls_are_no_cycle():
    series = 1000 * ar1(np.random.default_rng(1), 300, 0.02, 0.0)
    series[100:105] = series[160:165] = 0
    assert period_s(series) is None


def test_a_cycle_must_be_seen_three_times():
    dips = np.where(np.arange(400) % 60 < 12, 600.0, 1000.0)
    assert period_s(dips[:170]) is None
    assert period_s(dips[:190]) == 60


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_noise_alone_has_hardly_ever_one(rho):
    periods_s = [period_s(ar1(np.random.default_rng(seed), 600, 0.03, rho)) for seed in range(60)]
    assert sum(period is not None for period in periods_s) <= 3


@pytest.mark.parametrize("series", [np.full(600, 5.0), np.linspace(5, 9, 600), np.repeat([5.0, 9.0], 300), np.ones(12)])
def test_what_has_no_cycle(series):
    assert period_s(series) is None


def test_slow_noise_without_a_valley_is_no_cycle():
    periods_s = [period_s(ar1(np.random.default_rng(seed), 300, 0.05, 0.95)) for seed in range(200)]
    # 11 of them are taken for cycles where a peak need not rise above a valley.
    assert sum(period is not None for period in periods_s) <= 5
