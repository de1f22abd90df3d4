"""The class and the cut of series whose steady state is known, how often they are right, and the edges of the rule."""

import numpy as np
import pytest

from dbdyno.stats.steady_state import steady_state

from .hit_rates import hit_rates
from .synthetic_series import CASES, NOISES, SECONDS, ar1

# Stated in docs/statistics.md, less what ten seeds more or less could change. (class, cut), of 50 seeds.
STATED = {
    "flat": ((0.95, 0.95), (0.9, 0.9), (0.9, 0.9), (0.8, 0.8), (0.4, 0.4)),
    "warm-up, exponential": ((0.95, 0.65), (0.95, 0.7), (0.9, 0.7), (0.8, 0.5), (0.5, 0.25)),
    "step up after 120 s": ((0.95, 0.95), (0.95, 0.95), (0.95, 0.95), (0.9, 0.9), (0.5, 0.45)),
    "cliff after 200 s": ((0.95, 0.95), (0.95, 0.95), (0.95, 0.95), (0.85, 0.85), (0.6, 0.55)),
    "checkpoints every 60 s": ((0.95, 0.95), (0.95, 0.95), (0.95, 0.95), (0.95, 0.95), (0.85, 0.85)),
    "drift of −15 %": ((0.95, 0), (0.95, 0), (0.95, 0), (0.8, 0), (0.35, 0)),
    "drop in the last fifth": ((0.95, 0), (0.95, 0), (0.95, 0), (0.95, 0), (0.95, 0)),
    "random stalls": ((0.9, 0.9), (0.8, 0.8), (0.85, 0.85), (0.75, 0.75), (0.3, 0.3)),
}


@pytest.mark.parametrize("noise", range(len(NOISES)), ids=lambda level: str(NOISES[level]))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_right_as_often_as_stated(case, noise):
    right, near = hit_rates(case, *NOISES[noise])
    least_right, least_near = STATED[case.name][noise]
    assert right >= least_right and near >= least_near


def test_a_warm_up_is_left_out_of_the_mean():
    time_s = np.arange(SECONDS)
    series = 10_000 * (1 - 0.6 * np.exp(-time_s / 40)) * ar1(np.random.default_rng(2), SECONDS, 0.02, 0.3)
    state = steady_state(series)
    assert state.steady and state.mean_per_s == pytest.approx(10_000, rel=0.01)
    assert state.mean_per_s == pytest.approx(series[state.cut_s :].mean()) and series.mean() < 9_700
    assert state.kept == pytest.approx(1 - state.cut_s / SECONDS)


def test_the_mean_holds_its_stalls():
    series = np.full(300, 1000.0)
    series[150:153] = 0
    state = steady_state(series)
    assert (state.kind, state.mean_per_s) == ("flat", pytest.approx(990))


def test_drift_is_stated_over_the_trial_and_an_hour():
    state = steady_state(1000.0 - 0.25 * np.arange(600))
    assert (state.kind, state.steady) == ("drifting", False)
    assert state.drift == pytest.approx(-150 / 925, rel=0.01) and state.drift_per_hour == pytest.approx(6 * state.drift)
    slight = steady_state(1000.0 - 0.05 * np.arange(600))
    assert slight.kind == "flat" and slight.drift_per_hour == pytest.approx(-0.18, rel=0.03)


def test_a_warm_up_before_checkpoints():
    time_s = np.arange(1200)
    cycles = np.where(time_s % 60 < 12, 0.6, 1.0) * np.where(time_s < 300, 0.7, 1.0)
    state = steady_state(1000 * cycles * ar1(np.random.default_rng(0), 1200, 0.03, 0.5))
    assert (state.kind, state.cut_s, state.period_s) == ("warm-up", 300, 60)


def test_a_slow_first_batch_is_a_warm_up_not_an_outlier():
    state = steady_state(np.repeat([300.0, 1000.0], [10, 110]))
    assert (state.kind, state.mean_per_s) == ("warm-up", 1000) and 10 <= state.cut_s <= 30


SHORT = {
    # seconds, shape by second, and the shares called steady that docs/statistics.md states for each noise.
    "flat for a minute": (60, np.ones_like, (1.0, 0.9, 0.93)),
    "flat for three": (180, np.ones_like, (1.0, 0.965, 0.995)),
    "drift of -3 % a minute": (180, lambda second: 1 - 0.03 * second / 60, (0.01, 0.16, 0.185)),
    "cliff after 70 %": (60, lambda second: np.where(second < 42, 1.0, 0.6), (0.0, 0.0, 0.005)),
}


@pytest.mark.parametrize("name", SHORT)
def test_short_trials_are_called_steady_as_often_as_stated(name):
    seconds, shape, stated = SHORT[name]
    for (deviation, correlation), share in zip(((0.02, 0.0), (0.05, 0.0), (0.03, 0.5)), stated, strict=True):
        generator = np.random.default_rng(7)
        steady = 0
        for _ in range(200):
            fresh = generator.normal(0, deviation * np.sqrt(1 - correlation**2), seconds)
            noise = np.empty(seconds)
            noise[0] = generator.normal(0, deviation)
            for second in range(1, seconds):
                noise[second] = correlation * noise[second - 1] + fresh[second]
            steady += steady_state(1000 * shape(np.arange(float(seconds))) * (1 + noise)).steady
        assert steady / 200 == pytest.approx(share, abs=0.02)


def test_too_short_to_tell():
    state = steady_state(np.full(29, 7.0))
    assert (state.kind, state.steady, state.mean_per_s, state.drift_per_hour) == ("too short to tell", False, 7.0, None)
    assert steady_state(np.zeros(0)).mean_per_s is None
    assert steady_state(np.full(30, 7.0)).kind == "flat"


@pytest.mark.parametrize("seconds", range(60, 70))
def test_half_is_half_of_the_seconds_also_of_those_that_fill_no_batch(seconds):
    stepped = steady_state(np.repeat([700.0, 1000.0], [seconds - 30, 30]))
    assert stepped.kind == ("warm-up" if seconds == 60 else "no steady state")
    assert (stepped.cut_s, stepped.kept) == (seconds - 30, pytest.approx(30 / seconds))
    assert stepped.steady is (stepped.kept >= 0.5)
    # A slope is cut into a stair. Half of it is kept at 60 s and less beyond: then the slope is looked for.
    sloping = steady_state(1000 * (1 - 0.2 * np.arange(seconds) / seconds))
    assert (sloping.kind, sloping.kept >= 0.5) == ("drifting", True)


@pytest.mark.parametrize("seconds", range(30, 40))
def test_three_batches_are_one_piece_whatever_is_left_over(seconds):
    state = steady_state(np.repeat([900.0, 1000.0], [seconds - 20, 20]))
    assert (state.cut_s, state.kept) == (0, 1.0) and state.kind in ("flat", "drifting")


@pytest.mark.parametrize("cycles", [6, 6.4, 6.9])
def test_half_of_a_trial_in_cycles(cycles):
    seconds = round(60 * cycles)
    time_s = np.arange(seconds)
    level = np.where(time_s < seconds - 180, 0.7, 1.0) * np.where((seconds - time_s) % 60 < 12, 0.6, 1.0)
    state = steady_state(1000 * level)
    assert (state.period_s, state.cut_s) == (60, seconds - 180)
    assert state.kind == ("warm-up" if cycles == 6 else "no steady state")


@pytest.mark.parametrize("series", [np.zeros(100), np.repeat([9.0, 0.0], [70, 30]), np.repeat([9.0, 0.0], [49, 51])])
def test_a_store_that_died_has_no_steady_state(series):
    with np.errstate(all="raise"):
        state = steady_state(series)
    assert not state.steady and state.kind in ("no steady state", "drifting")
