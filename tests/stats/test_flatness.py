"""A sweep ends where two steps did not rise beyond the share and the noise, and not before."""

import numpy as np
import pytest

from dbdyno.stats.flatness import MOST_NOISE, flatness

SHARE = 0.03


def even(*per_s):
    return [[rate] * 5 for rate in per_s]


@pytest.mark.parametrize(
    "steps",
    [
        even(),
        even(1000, 1000),
        even(1000, 2000, 4000),
        even(1000, 2000, 2010, 2500),
        even(1000, 2000, 2500, 2010),
        even(1000, 1031, 1063),
        even(0, 0, 0),
    ],
    ids=["nothing", "two steps", "rises", "rose last", "rose before last", "rises a little", "nothing done"],
)
def test_a_curve_that_rises_or_is_too_short_is_not_flat(steps):
    assert flatness(steps, SHARE) is None


@pytest.mark.parametrize(
    ("steps", "best"),
    [(even(1000, 2000, 2010, 2059), 1), (even(1000, 2000, 1500, 900), 1), (even(3000, 2000, 3000, 3000), 0)],
    ids=["rose by less", "falls", "no higher than the first"],
)
def test_two_steps_that_do_not_rise_are_flat(steps, best):
    flat = flatness(steps, SHARE)
    assert flat.best == best and flat.noise == pytest.approx(0)
    assert all(rise < SHARE for rise in flat.rises)


def test_the_share_is_of_the_best_before_the_two():
    assert flatness(even(1000, 1029, 1029), SHARE).rises == pytest.approx((0.029, 0.029))
    assert flatness(even(1000, 1029, 1031), SHARE) is None


def test_a_rise_within_the_noise_is_none_and_beyond_it_is_one():
    noisy = [np.array([0.95, 1.05, 0.95, 1.05]) * rate for rate in (1000, 2000, 2080, 2080)]
    flat = flatness(noisy, SHARE)
    # Two means of four seconds, 0.0577 of relative deviation with 12 degrees of freedom, t = 1.782.
    assert flat.noise == pytest.approx(1.782 * 0.05 * np.sqrt(16 / 12) * np.sqrt(2 / 4), rel=1e-3)
    assert flatness([*noisy[:3], noisy[3] * 1.2], SHARE) is None


def test_of_single_seconds_the_share_alone_decides():
    flat = flatness([[1000], [2000], [2010], [2020]], SHARE)
    assert flat.noise is None and flatness([[1000], [2000], [2010], [2100]], SHARE) is None


def test_of_much_noise_nothing_is_concluded():
    steps = [np.array([0.2, 1.8]) * 1000] * 4
    assert flatness(steps, SHARE) is None
    assert flatness([np.array([0.98, 1.02]) * 1000] * 4, SHARE).noise < MOST_NOISE


def test_a_plateau_is_found_and_a_slope_is_not_mostly():
    random = np.random.default_rng(7)

    def ends(means):
        return flatness([random.normal(mean, 0.05 * mean, 5) for mean in means], SHARE) is not None

    assert sum(ends((1000, 2000, 2000, 2000)) for _ in range(400)) > 360
    assert sum(ends((1000, 2000, 2400, 2900)) for _ in range(400)) < 8
