"""Deciding while pairs are added: what is promised of every number of pairs at once, on pairs whose truth is known."""

import numpy as np
import pytest

from dbdyno.stats.comparison import FASTER, SLOWER
from dbdyno.stats.sequential import (
    FIRST_PAIRS,
    MOST_PAIRS,
    SAME,
    UNSTABLE,
    aa_noise,
    decide,
    half_width,
    least_pairs,
    more_pairs,
)

MARGIN = 0.05


def _until_decided(rng, effect, noise=0.015, comparisons=1):
    """Look after every pair until it is decided; returns the last decision, and whether every interval was right."""
    drawn, right = [], True
    for _ in range(MOST_PAIRS):
        drawn.append(rng.normal(np.log1p(effect), noise * 2**0.5))
        decision = decide(drawn, MARGIN, comparisons=comparisons)
        right &= decision.low is None or decision.low <= 1 + effect <= decision.high
        if decision.outcome:
            break
    return decision, right


def test_without_a_difference_no_look_finds_a_winner_in_20_of_20():
    rng = np.random.default_rng(21)
    assert [_until_decided(rng, 0.0)[0].outcome for _ in range(20)] == [SAME] * 20


@pytest.mark.parametrize("effect", [0.0, -0.03, -0.10])
def test_the_intervals_of_all_looks_cover_the_truth_as_often_as_promised(effect):
    rng = np.random.default_rng(5)
    assert np.mean([_until_decided(rng, effect)[1] for _ in range(300)]) >= 0.95


def test_looking_after_every_pair_does_not_find_differences_that_do_not_exist_however_long_it_goes_on():
    rng = np.random.default_rng(8)
    wrong = 0
    for _ in range(300):
        drawn = rng.normal(0, 0.02, MOST_PAIRS)
        looks = [(half_width(drawn[:n]), abs(drawn[:n].mean())) for n in range(2, MOST_PAIRS + 1)]
        wrong += any(half is not None and half < centre for half, centre in looks)
    assert wrong <= 0.05 * 300


@pytest.mark.parametrize(("effect", "outcome"), [(-0.10, SLOWER), (0.10, FASTER), (-0.01, SAME)])
def test_a_difference_is_found_by_an_interval_that_covers_it(effect, outcome):
    rng = np.random.default_rng(2)
    decisions = [_until_decided(rng, effect) for _ in range(100)]
    assert [decision.outcome for decision, _ in decisions].count(outcome) >= 98
    assert sum(right for _, right in decisions) >= 95


@pytest.mark.parametrize(("comparisons", "pairs"), [(1, 3), (2, 4), (11, 4), (12, 5), (105, 5), (106, 6)])
def test_several_comparisons_together_need_more_pairs_for_an_interval(comparisons, pairs):
    assert least_pairs(comparisons) == pairs
    ratios = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2]
    assert half_width(ratios[:pairs], comparisons) is not None
    assert pairs == FIRST_PAIRS or half_width(ratios[: pairs - 1], comparisons) is None


def test_a_clear_difference_takes_fewer_pairs_than_an_unclear_one():
    rng = np.random.default_rng(4)
    pairs = {
        effect: np.mean([_until_decided(rng, effect)[0].pairs for _ in range(50)]) for effect in (-0.2, -0.06, -0.03)
    }
    assert pairs[-0.2] < pairs[-0.06] < pairs[-0.03]


def test_a_host_that_differs_from_itself_by_more_than_the_margin_is_unstable_and_still_shows_what_is_larger():
    rng = np.random.default_rng(6)
    noisy = list(rng.normal(0, 0.01, 10))
    assert decide(noisy, MARGIN).outcome == SAME
    assert decide(noisy, MARGIN, noise=0.08).outcome == UNSTABLE
    assert decide([log_ratio - 0.07 for log_ratio in noisy], MARGIN, noise=0.08).outcome != SLOWER
    assert decide([log_ratio - 0.5 for log_ratio in noisy], MARGIN, noise=0.08).outcome == SLOWER


def test_more_comparisons_need_wider_intervals_and_too_few_pairs_have_none():
    drawn = [0.01, -0.01, 0.02, 0.0, -0.02]
    assert half_width(drawn, 10) > half_width(drawn, 1)
    assert half_width([0.01]) is None and decide([0.01], MARGIN).low is None
    assert decide([0.01, 0.01, 0.01], MARGIN).outcome == SAME


@pytest.mark.parametrize(("centre", "wanted"), [(0.2, 0.2), (-0.2, 0.2), (0.0, np.log1p(MARGIN))])
def test_how_many_more_pairs_would_decide(centre, wanted):
    drawn = np.resize((0.03, -0.03), MOST_PAIRS)
    needed = 4 + more_pairs(list(centre + drawn[:4]), MARGIN, 16)
    assert half_width(list(drawn[:needed]), 16) <= wanted < (half_width(list(drawn[: needed - 2]), 16) or np.inf)


def test_what_no_number_of_pairs_decides_needs_more_than_there_are():
    assert 4 + more_pairs([0.02, -0.02] * 2, 0.001) == MOST_PAIRS + 1
    assert more_pairs([0.02, -0.02] * MOST_PAIRS, 0.001) == 1


def test_the_noise_of_a_side_is_that_of_its_successive_trials():
    rng = np.random.default_rng(7)
    quiet, loud = (1000 * np.exp(rng.normal(0, noise, 8)) for noise in (0.01, 0.1))
    assert aa_noise(quiet) < 0.05 < aa_noise(loud)
    assert aa_noise([1000.0, 1001.0]) is None
