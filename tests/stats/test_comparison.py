"""Verdicts against known truths: how often they are wrong, and that they find what is there."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dbdyno.stats.comparison import (
    SINGLE,
    aa_noise,
    compare,
    confirmed_slowdown,
    holm,
    is_narrow,
    log_ratios,
    sign_flip_p,
)

TRIAL_NOISE = 0.015
SIMULATIONS = 1000


def trials(rng, pairs, effect=0.0, noise=TRIAL_NOISE):
    """Two sides whose pairs also share what the afternoon did to both."""
    shared = rng.normal(0, 0.03, pairs)
    sides = (1000 * np.exp(shared + rng.normal(0, noise, pairs)) for _ in range(2))
    return next(sides), next(sides) * (1 + effect)


def verdicts(pairs, effect, **keys):
    rng = np.random.default_rng(pairs)
    return [compare(*trials(rng, pairs, effect), **keys) for _ in range(SIMULATIONS)]


@pytest.mark.parametrize("pairs", [5, 10])
def test_false_positives_are_as_rare_as_promised(pairs):
    comparisons = verdicts(pairs, 0.0)
    assert sum(comparison.verdict in ("faster", "slower") for comparison in comparisons) <= 0.07 * SIMULATIONS
    assert sum(comparison.p_value < 0.05 for comparison in comparisons) <= 0.07 * SIMULATIONS
    assert sum(comparison.low <= 1 <= comparison.high for comparison in comparisons) >= 0.93 * SIMULATIONS


def test_three_percent_are_found_with_ten_pairs():
    comparisons = verdicts(10, 0.03)
    assert sum(comparison.verdict == "faster" for comparison in comparisons) >= 0.85 * SIMULATIONS
    assert sum(comparison.low <= 1.03 <= comparison.high for comparison in comparisons) >= 0.93 * SIMULATIONS


def test_slower_is_the_mirror_of_faster():
    rng = np.random.default_rng(3)
    for _ in range(20):
        before, other = trials(rng, 6, 0.05)
        there, back = compare(before, other), compare(other, before)
        assert (there.ratio, there.low) == (pytest.approx(1 / back.ratio), pytest.approx(1 / back.high))
        assert {there.verdict, back.verdict} in ({"faster", "slower"}, {"inconclusive"})


def test_the_interval_and_p_are_students():
    before, other = trials(np.random.default_rng(1), 7, 0.01)
    comparison, ratios = compare(before, other), log_ratios(before, other)
    reference = stats.ttest_1samp(ratios, 0)
    low, high = reference.confidence_interval(0.95)
    assert comparison.p_value == pytest.approx(reference.pvalue)
    assert (np.log(comparison.low), np.log(comparison.high)) == (pytest.approx(low), pytest.approx(high))
    assert comparison.ratio == pytest.approx(stats.gmean(other / before))


def test_sign_flips_are_counted_exactly_or_sampled():
    rng = np.random.default_rng(0)
    ratios = rng.normal(0.01, 0.02, 12)
    exact = stats.permutation_test(
        (ratios,), lambda x, axis: x.sum(axis), permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert sign_flip_p(ratios, 0) == pytest.approx(exact.pvalue)
    assert sign_flip_p(np.full(5, 0.1), 0) == 2 / 32
    more = np.concatenate([ratios, [0.0]])
    assert sign_flip_p(more, 1) == sign_flip_p(more, 1) == pytest.approx(exact.pvalue, abs=0.02)
    assert 0 < sign_flip_p(np.full(30, 0.1), 0) < 0.001


def test_equivalent_needs_the_whole_interval_within_the_margin():
    near = compare([1000, 1001, 999, 1000, 1002], [1003, 1004, 1001, 1005, 1003])
    assert near.verdict == "equivalent" and near.p_value < 0.05
    assert compare([1000, 1001, 999, 1000, 1002], [1003, 1004, 1001, 1005, 1003], margin=0.001).verdict == "faster"
    assert compare([1000, 1100, 900], [1000, 900, 1100]).verdict == "inconclusive"


def test_the_margin_is_never_below_the_noise_of_the_host():
    aa = compare([1000, 1010, 990, 1005], [1020, 990, 1000, 1015])
    noise = aa_noise(aa)
    assert noise > 0.02 and max(1 / aa.low, aa.high) == pytest.approx(1 + noise)
    assert compare([1000, 1001], [1000, 1001], noise=noise).margin == noise
    assert compare([1000, 1001], [1000, 1001], noise=0.001).margin == 0.02
    with pytest.raises(ValueError, match="two pairs"):
        aa_noise(compare([1000], [1000]))


def test_a_difference_within_the_noise_of_the_host_names_no_winner():
    before, after = [1000, 1001, 999, 1000, 1002], [1041, 1070, 1015, 1041, 1040]
    assert compare(before, after).verdict == "faster"
    comparison = compare(before, after, noise=0.056)
    assert (
        comparison.p_value < 0.01
        and comparison.high > 1.056
        and comparison.verdict == "inconclusive"
        and comparison.within_noise
    )
    assert compare(before, after, noise=0.03).verdict == "faster"
    small = compare([1000, 1030, 970, 1000], [1015, 1038, 988, 1019])
    assert small.ratio < 1.02 < small.high and small.verdict == "faster"


def test_one_trial_a_side_has_no_interval_and_no_winner():
    comparison = compare([1000], [5000])
    assert (comparison.verdict, comparison.low, comparison.high, comparison.p_value, comparison.p_sign_flip) == (
        SINGLE,
        None,
        None,
        None,
        None,
    )


def test_identical_trials_do_not_leave_an_interval_of_no_width():
    comparison = compare([1000, 1000], [1001, 1001])
    assert comparison.low < comparison.ratio < comparison.high and comparison.verdict == "equivalent"


@pytest.mark.parametrize("sides", [([], []), ([1, 2], [1]), ([1, 0], [1, 1])])
def test_what_cannot_be_paired_is_refused(sides):
    with pytest.raises(ValueError):
        compare(*sides)


def test_holm_takes_back_what_chance_explains():
    base = compare([1000, 1001, 999, 1000, 1002], [1100, 1101, 1102, 1103, 1099])
    cells = [replace(base, p_value=p) for p in (0.04, 0.001, 0.02)] + [replace(base, p_value=None)]
    judged = holm(cells)
    assert [cell.p_holm for cell in judged[:3]] == [pytest.approx(0.04), pytest.approx(0.003), pytest.approx(0.04)]
    assert [cell.verdict for cell in holm([replace(base, p_value=p) for p in (0.04, 0.03)])] == ["inconclusive"] * 2
    for p_values, taken_back in (((0.04, 0.001, 0.02), [False] * 3), ((0.04, 0.03), [True] * 2)):
        assert [cell.taken_back for cell in holm([replace(base, p_value=p) for p in p_values])] == taken_back
    equivalent = replace(base, p_value=0.5, verdict="equivalent")
    assert holm([equivalent, replace(base, p_value=0.03)])[0].verdict == "equivalent"


def test_holm_keeps_false_positives_rare_over_all_cells():
    rng = np.random.default_rng(11)
    families = [holm([compare(*trials(rng, 5)) for _ in range(8)]) for _ in range(250)]
    assert sum(any(cell.verdict in ("faster", "slower") for cell in family) for family in families) <= 0.07 * 250 + 3


def test_an_interval_is_narrow_or_not_whatever_p_says():
    clear = compare([1000, 900, 1100, 1000], [2000, 2001, 2002, 2003])
    assert clear.p_value < 0.001 and not is_narrow(clear, 0.01)
    near = compare([1000, 1001, 999, 1000, 1001], [1001, 1001, 1000, 1002, 1000])
    assert is_narrow(near, 0.01) and not is_narrow(near, 0.0001)
    assert not is_narrow(compare([1000], [1000]), 0.5)


def test_only_a_certain_and_large_slowdown_is_confirmed():
    before = [1000, 1001, 999, 1000, 1002]
    assert confirmed_slowdown(compare(before, [950, 951, 949, 950, 952], margin=0.03))
    assert not confirmed_slowdown(compare(before, [975, 976, 974, 975, 977], margin=0.03))
    assert not confirmed_slowdown(compare(before, [900, 1100, 800, 950, 1000], margin=0.03))
    assert not confirmed_slowdown(compare(before, [1100] * 5, margin=0.03))
    assert not confirmed_slowdown(compare([1000], [500], margin=0.03))
