"""The cheapest division is found, whatever an exhaustive search would find too, and steps are found in noise."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from dbdyno.stats.segments import mad, noise, penalty, segments


def cheapest(values, penalty, shortest):
    """Every division there is, and the cost of the best."""
    count, best = len(values), np.inf
    for cuts in range(count // shortest):
        for inner in combinations(range(1, count), cuts):
            edges = [0, *inner, count]
            pieces = [values[a:b] for a, b in pairwise(edges)]
            if min(map(len, pieces)) >= shortest:
                best = min(best, cost(pieces, penalty))
    return best


def cost(pieces, penalty):
    return sum(((piece - piece.mean()) ** 2).sum() for piece in pieces) + penalty * (len(pieces) - 1)


@pytest.mark.parametrize("seed", range(20))
def test_no_division_is_cheaper(seed):
    rng = np.random.default_rng(seed)
    values = 1000 + np.cumsum(rng.normal(0, 1, 11) * (rng.random(11) < 0.3)) + rng.normal(0, 0.3, 11)
    pieces = segments(values, 0.4, 3)
    assert [begin for begin, _ in pieces] == [0, *(end for _, end in pieces[:-1])] and pieces[-1][1] == 11
    assert min(end - begin for begin, end in pieces) >= 3
    assert cost([values[begin:end] for begin, end in pieces], 0.4) == pytest.approx(cheapest(values, 0.4, 3))


def test_a_division_that_pruning_misses():
    # ruptures' Pelt 1.1.10 cuts this after the second value, at a higher cost (its pull request 383).
    assert segments(np.array([0.0, 1, 0, 0, 1]), 0.1, 2) == [(0, 5)]


def test_too_short_to_be_cut():
    assert segments(np.array([1.0, 9, 9, 9, 9]), 0.0, 3) == [(0, 5)]
    assert segments(np.array([1.0, 2]), 0.0, 3) == [(0, 2)]
    assert segments(np.zeros(0), 1.0, 3) == []


def test_noise_is_that_around_the_steps():
    rng = np.random.default_rng(0)
    stair = np.repeat([100.0, 200, 150], 2000) + rng.normal(0, 3, 6000)
    assert noise(stair) == pytest.approx(3, rel=0.05)
    assert mad(np.array([1.0, 2, 3, 4, 100])) == 1 and mad(np.zeros(0)) == 0


def test_without_noise_a_cut_still_costs():
    assert penalty(np.full(10, 5.0), 0.5) == pytest.approx(4 * 0.25 * np.log(10))
