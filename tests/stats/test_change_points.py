"""Steps in a history are found where they are; noise, odd runs and small changes confirm nothing."""

import numpy as np
import pytest

from dbdyno.stats.change_points import _best_division, change_points

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
