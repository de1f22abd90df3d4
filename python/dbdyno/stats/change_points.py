"""Where the level of a history of runs changed, and by how much (docs/statistics.md, section 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import stdtrit

from dbdyno.stats.segments import noise, penalty, segments

SIGNIFICANCE = 0.05
PERMUTATIONS = 199
SHORTEST_SEGMENT = 3
"""Runs on either side of a change, at least: one odd run is no change."""
LEAST_CHANGE = 0.03
NOISES = 2.0
"""A change must also be this many times the noise of a run."""
AGREEMENT = 2
"""Runs by which the second method may place the change elsewhere."""
LEAST_NOISE = 0.001
"""No level is known more exactly: runs that agree by chance would else leave an interval of no width."""
CONFIDENCE = 0.95
MOST_CORRELATION = 0.9
"""Of a run with the next; with more, a few runs would be less than one."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """One change of level.

    Attributes:
        index: the first run of the new level.
        change: by how much throughput changed, −0.05 is 5 % less.
        low, high: its 95 % interval, the runs being the sample.
        p_value: of the permutation test. Runs that are close in time resemble each other, and then it is too small:
            that is why it alone confirms nothing.
    """

    index: int
    change: float
    low: float
    high: float
    p_value: float


def least_change(log_ratios: np.ndarray, aa_noise: float = 0.0) -> float:
    """Return from which share on a change of level counts: 3 %, or twice the noise of a run if that is more.

    Args:
        log_ratios, aa_noise: as of `change_points`.
    """
    return max(LEAST_CHANGE, NOISES * max(aa_noise, noise(log_ratios)))


def change_points(log_ratios: np.ndarray, aa_noise: float = 0.0, seed: int = 0) -> list[ChangePoint]:
    """Find the changes of level that two methods agree on and that are large enough to matter.

    The first is E-divisive (Matteson & James 2014), by means, as Daly et al. (2020) use it for regressions: the
    division with the largest energy statistic, tested by permutation, then the same within each side. The second is the
    cheapest division into constant pieces (`segments`). A change of less than `least_change`, or whose interval holds
    that there is none, is none.

    Args:
        log_ratios: ln(run / baseline), one value a run in the order of time, shape (runs,).
        aa_noise: what a system differs from itself by on this host; the history's own noise is taken if that is more.
        seed: of the permutations.
    """
    second = segments(log_ratios, penalty(log_ratios, LEAST_NOISE), SHORTEST_SEGMENT)
    agreed = {begin + shift for begin, _ in second[1:] for shift in range(-AGREEMENT, AGREEMENT + 1)}
    least = least_change(log_ratios, aa_noise)
    found = _divide(log_ratios, 0, np.random.default_rng(seed))
    candidates = [(index, p_value) for index, p_value in sorted(found) if index in agreed]
    # A division that is dropped gives its runs back to its neighbours, so sizes are of what remains, least first.
    while changes := _sized(log_ratios, candidates):
        doubtful = [one for one in changes if abs(one.change) < least or one.low <= 0 <= one.high]
        if not doubtful:
            return changes
        dropped = min(doubtful, key=lambda one: abs(one.change)).index
        candidates = [(index, p_value) for index, p_value in candidates if index != dropped]
    return []


def _sized(log_ratios: np.ndarray, divisions: list[tuple[int, float]]) -> list[ChangePoint]:
    """How large the changes at these divisions (first run and p of each) are, where they are all there are."""
    edges = [0, *(index for index, _ in divisions), len(log_ratios)]
    levels = [log_ratios[begin:end] for begin, end in pairwise(edges)]
    return [
        ChangePoint(index, *map(float, np.expm1(_difference(before, after))), p_value)
        for (index, p_value), (before, after) in zip(divisions, pairwise(levels), strict=True)
    ]


def _difference(before: np.ndarray, after: np.ndarray) -> tuple[float, float, float]:
    """How far the second level lies above the first, with its 95 % interval by Welch's t.

    Runs that are close in time resemble each other and say less than as many independent ones: n of them count for
    n (1 − ρ) / (1 + ρ), ρ being the correlation of a run with the next (Bayley & Hammersley 1946). Of few runs that is
    underestimated: docs/statistics.md has how often the interval holds the truth.
    """
    sides = before, after
    rests = [side - side.mean() for side in sides]
    squares = sum(float(rest @ rest) for rest in rests)
    rho = sum(float(rest[1:] @ rest[:-1]) for rest in rests) / squares if squares else 0.0
    rho = min(max(rho, 0.0), MOST_CORRELATION)
    counts = [len(side) * (1 - rho) / (1 + rho) for side in sides]
    errors = [max(float(side.var(ddof=1)), LEAST_NOISE**2) / count for side, count in zip(sides, counts, strict=True)]
    parts = sum(error**2 / max(count - 1, 1.0) for error, count in zip(errors, counts, strict=True))
    half = float(stdtrit(sum(errors) ** 2 / parts, (1 + CONFIDENCE) / 2)) * sum(errors) ** 0.5
    centre = float(after.mean() - before.mean())
    return centre, centre - half, centre + half


def _divide(values: np.ndarray, offset: int, rng: np.random.Generator) -> list[tuple[int, float]]:
    """The significant divisions of a piece that begins at run `offset`, with the p of each."""
    if len(values) < 2 * SHORTEST_SEGMENT:
        return []
    distances = np.abs(values[:, None] - values[None, :])
    index, highest = _best_division(distances)
    orders = (rng.permutation(len(values)) for _ in range(PERMUTATIONS))
    as_high = sum(_best_division(distances[np.ix_(order, order)])[1] >= highest for order in orders)
    p_value = (as_high + 1) / (PERMUTATIONS + 1)
    if highest <= 0 or p_value > SIGNIFICANCE:
        return []
    sides = _divide(values[:index], offset, rng) + _divide(values[index:], offset + index, rng)
    return [(offset + index, p_value), *sides]


def _best_division(distances: np.ndarray) -> tuple[int, float]:
    """Where the energy statistic of two sides is highest, and what it is there.

    Args:
        distances: between all values of the piece, in order, shape (n, n).
    """
    count = len(distances)
    sums = np.zeros((count + 1, count + 1))
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    left = np.arange(SHORTEST_SEGMENT, count - SHORTEST_SEGMENT + 1)
    right = count - left
    within_left = sums[left, left]
    across = sums[left, count] - within_left
    within_right = sums[count, count] - within_left - 2 * across
    # Each pair within a side is counted twice in its sum.
    energy = 2 * across / (left * right) - within_left / (left * (left - 1)) - within_right / (right * (right - 1))
    weighted = energy * left * right / count
    best = int(np.argmax(weighted))
    return int(left[best]), float(weighted[best])
