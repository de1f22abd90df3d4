"""Steps in a history are found where they are; noise, odd runs and small changes confirm nothing."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from dbdyno.stats.change_points import _best_division, _difference, change_points, least_change

from .synthetic_series import ar1

SEEDS = 40


def histories(rho, runs=40, noise=0.015):
    return [np.log(ar1(np.random.default_rng(seed), runs, noise, rho)) for seed in range(SEEDS)]


@pytest.mark.parametrize(("rho", "most"), [(0.0, 0.05), (0.5, 0.08), (0.8, 0.12)])
def test_noise_is_hardly_ever_a_change(rho, most):
    assert sum(bool(change_points(values)) for values in histories(rho)) <= most * SEEDS


@pytest.mark.parametrize(("runs", "rho"), [(12, 0.0), (40, 0.0), (40, 0.5)])
def test_a_step_of_six_percent_is_found_where_it_is(runs, rho):
    hits = 0
    for values in histories(rho, runs):
        values[runs // 2 :] += np.log(0.94)
        found = change_points(values)
        hits += any(abs(one.index - runs // 2) <= 2 and abs(one.change + 0.06) < 0.03 for one in found)
    assert hits >= 0.9 * SEEDS


def test_two_steps_with_their_sizes():
    values = np.log(ar1(np.random.default_rng(1), 60, 0.005, 0.0))
    values[20:] -= 0.1
    values[40:] += 0.15
    down, up = change_points(values)
    assert (down.index, up.index) == (20, 40)
    assert (down.change, up.change) == (
        pytest.approx(np.expm1(-0.1), abs=0.01),
        pytest.approx(np.expm1(0.15), abs=0.01),
    )
    assert max(down.p_value, up.p_value) <= 0.05


def test_what_is_too_small_to_matter_is_dropped():
    values = np.log(ar1(np.random.default_rng(1), 40, 0.002, 0.0))
    values[20:] += np.log(0.98)
    assert change_points(values) == []
    values[20:] += np.log(0.97)
    (one,) = change_points(values)
    assert one.index == 20
    assert change_points(values, aa_noise=0.03) == []


def test_one_odd_run_is_no_change():
    values = np.log(ar1(np.random.default_rng(2), 30, 0.005, 0.0))
    values[14] -= 0.3
    assert change_points(values) == []


@pytest.mark.parametrize("values", [np.zeros(0), np.zeros(5), np.zeros(30), np.array([0.0, 0, 0, 1, 1])])
def test_nothing_to_tell(values):
    assert change_points(values) == []


def test_the_same_history_says_the_same_again():
    values = histories(0.8)[3] - np.linspace(0, 0.2, 40)
    assert change_points(values, seed=5) == change_points(values, seed=5)


def test_the_energy_statistic_by_its_definition():
    values = np.random.default_rng(0).normal(0, 1, 12)
    distances = np.abs(values[:, None] - values[None, :])
    expected = {}
    for cut in range(3, 10):
        left, right = values[:cut], values[cut:]
        across = np.abs(left[:, None] - right[None, :]).mean()
        within = [np.abs(s[:, None] - s[None, :])[np.triu_indices(len(s), 1)].mean() for s in (left, right)]
        expected[cut] = (2 * across - sum(within)) * len(left) * len(right) / len(values)
    best = max(expected, key=expected.get)
    assert _best_division(distances) == (best, pytest.approx(expected[best]))


@pytest.mark.parametrize(
    ("second", "confirmed"), [(20, True), (18, True), (22, True), (17, False), (23, False), (None, False)]
)
def test_both_methods_must_agree_within_two_runs(monkeypatch, second, confirmed):
    # The floor alone stops nearly everything on which the two disagree, so the disagreement is made up.
    pieces = [(0, 40)] if second is None else [(0, second), (second, 40)]
    monkeypatch.setattr("dbdyno.stats.change_points.segments", lambda *_: pieces)
    values = np.log(ar1(np.random.default_rng(1), 40, 0.005, 0.0))
    values[20:] -= 0.1
    assert bool(change_points(values)) is confirmed


def test_an_interval_is_welchs_where_runs_are_independent():
    rng = np.random.default_rng(1)
    before, after = rng.normal(0, 0.01, 9), rng.normal(0.05, 0.03, 14)
    rest = [side - side.mean() for side in (before, after)]
    assert sum(one[1:] @ one[:-1] for one in rest) < 0  # no run resembles the next
    expected = ttest_ind(after, before, equal_var=False).confidence_interval()
    assert _difference(before, after) == pytest.approx((after.mean() - before.mean(), *expected))


def test_runs_that_resemble_each_other_widen_it():
    before, after = np.sort(np.random.default_rng(3).normal(0, 0.01, (2, 12)))
    mixed = [np.random.default_rng(5).permutation(side) for side in (before, after)]
    (_, low, high), (_, mixed_low, mixed_high) = _difference(before, after), _difference(*mixed)
    assert high - low > 1.5 * (mixed_high - mixed_low)


def test_the_interval_of_a_change_holds_the_true_one():
    held = []
    for values in histories(0.0, runs=20):
        values[10:] += np.log(0.9)
        held += [one.low <= -0.1 <= one.high for one in change_points(values)]
    assert len(held) >= 0.9 * SEEDS and sum(held) >= 0.85 * len(held)


def test_runs_that_agree_by_chance_still_have_an_interval():
    (one,) = change_points(np.repeat([0.0, -0.1], 5))
    assert one.high - one.low > 0.001


def test_a_change_whose_interval_holds_none_is_not_confirmed(monkeypatch):
    # The permutations stop nearly everything of the kind, so what they say is made up.
    monkeypatch.setattr("dbdyno.stats.change_points._divide", lambda *_: [(6, 0.005)])
    monkeypatch.setattr("dbdyno.stats.change_points.segments", lambda *_: [(0, 6), (6, 12)])
    odd = np.array([0.0, 0.001, 0.0, 0.001, 0.0, 0.001, 0.0, -0.3, 0.001, 0.0, 0.001, 0.0])
    assert odd[6:].mean() < -0.04 and change_points(odd) == []
    assert len(change_points(np.where(np.arange(12) < 6, odd, odd[0] - 0.05))) == 1


def test_from_where_on_a_change_counts():
    values = np.log(ar1(np.random.default_rng(1), 40, 0.05, 0.0))
    assert least_change(np.zeros(10)) == 0.03 and least_change(np.zeros(10), 0.05) == 0.1
    assert 0.07 < least_change(values) < 0.13
