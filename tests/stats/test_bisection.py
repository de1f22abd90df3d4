"""The search for the first slow build, on scripted builds whose truth is known."""

from dataclasses import replace
from math import log, log1p

import numpy as np
import pytest

from dbdyno.stats.bisection import BAD, GOOD, INCONCLUSIVE, SearchResult, is_known, most_steps, search, step
from dbdyno.stats.sequential import MOST_PAIRS, Decision, decide

BUILDS = 16


COMPARISONS = most_steps(BUILDS) + 2
MARGIN = 0.02


def scripted(rng, slow, effect, noise, most_pairs=MOST_PAIRS, spent=None):
    """Return what measures a build: pairs with the good one until it is judged.

    The effect is measured first, as the command does. spent: takes the number of pairs of each.
    """

    def measured(build, judge):
        drawn, decision = [], None
        while len(drawn) < most_pairs and not (decision and decision.outcome):
            drawn.append(rng.normal(log1p(effect) if build >= slow else 0.0, noise * 2**0.5))
            decision = judge(drawn)
        if spent is not None:
            spent.append(len(drawn))
        return decision

    def until_known(drawn):
        decision = decide(drawn, MARGIN, comparisons=COMPARISONS)
        return decision if is_known(decision) else replace(decision, outcome=None)

    whole = log(measured(BUILDS - 1, until_known).ratio)
    return lambda build: measured(build, lambda drawn: step(drawn, whole, COMPARISONS)).outcome or INCONCLUSIVE


@pytest.mark.parametrize(("effect", "noise"), [(-0.03, 0.01), (-0.05, 0.015), (-0.10, 0.015), (0.05, 0.015)])
def test_one_slow_step_in_16_builds_is_found_in_20_of_20(effect, noise):
    rng = np.random.default_rng(16)
    slow = [int(rng.integers(1, BUILDS)) for _ in range(20)]
    assert [search(BUILDS, scripted(rng, build, effect, noise)) for build in slow] == [
        SearchResult(build - 1, build) for build in slow
    ]


def test_with_too_few_pairs_the_range_that_is_left_holds_the_slow_build():
    rng = np.random.default_rng(3)
    for _ in range(20):
        slow = int(rng.integers(1, BUILDS))
        outcome = search(BUILDS, scripted(rng, slow, -0.03, 0.03, most_pairs=20))
        assert outcome.last_good < slow <= outcome.first_bad


def test_no_more_builds_are_asked_than_promised_and_none_twice():
    for builds in range(2, 40):
        for slow in range(1, builds):
            asked = []
            outcome = search(
                builds, lambda build, slow=slow, asked=asked: asked.append(build) or (BAD if build >= slow else GOOD)
            )
            assert outcome == SearchResult(slow - 1, slow) and outcome.is_exact
            assert len(asked) == len(set(asked)) <= most_steps(builds) and not {0, builds - 1} & set(asked)


def test_inconclusive_builds_are_gone_around():
    outcomes = {5: BAD, 3: GOOD}
    outcome = search(9, lambda build: outcomes.get(build, BAD if build > 5 else INCONCLUSIVE))
    assert outcome == SearchResult(3, 5) and not outcome.is_exact


def test_what_is_known_is_not_asked():
    assert search(4, lambda build: pytest.fail(f"asked {build}"), {1: GOOD, 2: BAD}) == SearchResult(1, 2)


def test_a_build_between_good_and_bad_has_no_outcome_until_the_interval_leaves_the_half():
    half = [log1p(-0.10) / 2 + difference for difference in (0.001, -0.001, 0.002, -0.002, 0.0)]
    assert step(half, log1p(-0.10), 6).outcome is None
    assert step(half[:1], log1p(-0.10), 6).low is None


def test_an_effect_is_known_once_its_interval_reaches_no_further_than_half_of_it():
    assert is_known(Decision(9, 0.96, 0.96 * 0.982, 0.96 / 0.982, "slower"))
    assert not is_known(Decision(9, 0.96, 0.96 * 0.978, 0.96 / 0.978, "slower"))
    assert not is_known(Decision(2, 0.96, None, None, None))
