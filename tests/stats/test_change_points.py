"""Steps in a history are found where they are; noise, odd runs and small changes confirm nothing."""

import numpy as np
import pytest

from dbdyno.stats.change_points import _best_division, _fit, change_points, least_change

from .synthetic_series import ar1

SEEDS = 40


def histories(rho, runs=40, noise=0.015):
    return [np.log(ar1(np.random.default_rng(seed), runs, noise, rho)) for seed in range(SEEDS)]


@pytest.mark.parametrize("runs", [20, 60])
@pytest.mark.parametrize("noise", [0.01, 0.04])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_noise_is_hardly_ever_a_change(rho, noise, runs):
    assert sum(bool(change_points(values)) for values in histories(rho, runs, noise)) <= 0.05 * SEEDS


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_a_step_of_three_times_the_noise_is_found(rho):
    hits = 0
    for values in histories(rho, runs=40, noise=0.02):
        values[20:] += np.log(0.94)
        hits += any(abs(change.index - 20) <= 2 for change in change_points(values))
    assert hits >= 0.8 * SEEDS


@pytest.mark.parametrize(("runs", "rho"), [(24, 0.0), (40, 0.0), (40, 0.5)])
def test_a_step_of_six_percent_is_found_where_it_is(runs, rho):
    hits = 0
    for values in histories(rho, runs):
        values[runs // 2 :] += np.log(0.94)
        changes = change_points(values)
        hits += any(abs(change.index - runs // 2) <= 2 and abs(change.change + 0.06) < 0.03 for change in changes)
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
    values[20:] += np.log(0.985)
    assert change_points(values) == []
    values[20:] += np.log(0.975)
    (change,) = change_points(values)
    assert change.index == 20
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


@pytest.mark.parametrize(("second", "confirmed"), [(20, True), (18, True), (22, True), (17, False), (23, False)])
def test_both_methods_must_agree_within_two_runs(monkeypatch, second, confirmed):
    # Two methods hardly ever disagree on a step as clear as this one, so the disagreement is made up.
    monkeypatch.setattr("dbdyno.stats.change_points._divide", lambda *_: [(second, 0.005)])
    values = np.log(ar1(np.random.default_rng(1), 40, 0.005, 0.0))
    values[20:] -= 0.1
    assert any(change.index == 20 for change in change_points(values)) is confirmed


def test_without_a_division_by_the_second_method_there_is_none(monkeypatch):
    monkeypatch.setattr("dbdyno.stats.change_points._divide", lambda *_: [])
    assert change_points(np.repeat([0.0, -0.1], 20)) == []


def test_a_step_between_independent_runs_is_the_difference_of_their_means():
    rng = np.random.default_rng(1)
    before, after = rng.normal(0, 0.01, 9), rng.normal(0.05, 0.01, 14)
    rest = np.concatenate([side - side.mean() for side in (before, after)])
    assert rest[1:] @ rest[:-1] < 0  # no run resembles the next
    fit = _fit(np.concatenate([before, after]), [9])
    pooled = np.sqrt(rest @ rest / (23 - 3) * (1 / 9 + 1 / 14))
    assert (fit.steps[0], fit.errors[0]) == (pytest.approx(after.mean() - before.mean()), pytest.approx(pooled))
    centre, low, high = fit.step(0)
    assert (high - centre) == pytest.approx(centre - low) and 1.9 < (high - centre) / fit.errors[0] < 2.2


def test_runs_that_resemble_each_other_say_less():
    drifting = np.log(ar1(np.random.default_rng(3), 60, 0.02, 0.8))
    mixed = np.random.default_rng(5).permutation(drifting)
    assert _fit(drifting, [30]).errors[0] > 1.5 * _fit(mixed, [30]).errors[0]


def test_the_interval_of_a_change_holds_the_true_one():
    held = []
    for values in histories(0.0, runs=20):
        values[10:] += np.log(0.9)
        held += [change.low <= -0.1 <= change.high for change in change_points(values)]
    assert len(held) >= 0.9 * SEEDS and sum(held) >= 0.85 * len(held)


def test_runs_that_agree_by_chance_still_have_an_interval():
    (change,) = change_points(np.repeat([0.0, -0.1], 5))
    assert change.high - change.low > 0.001


def test_from_where_on_a_change_counts():
    assert least_change() == 0.02 and least_change(0.05) == 0.1
