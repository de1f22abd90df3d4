"""Compares two sides by paired trials: interval, and verdict against a margin (docs/statistics.md, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from dbdyno.stats.margin import MARGIN
from dbdyno.stats.student_t import probability_below, quantile

CONFIDENCE = 0.95
SIGNIFICANCE = 0.05
EXACT_PAIRS = 12
"""Up to here every assignment of signs is tried; 4,096 of them."""
SAMPLED_SIGNS = 10_000
RESOLUTION = 1e-4
"""No throughput is known more exactly: two pairs that agree by chance would else leave an interval of no width."""

FASTER, SLOWER, EQUIVALENT, INCONCLUSIVE = "faster", "slower", "equivalent", "inconclusive"
SINGLE = "one trial a side: no interval, no winner"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of a candidate with a baseline by the trials of one cell.

    Attributes:
        pairs: trials a side.
        ratio: geometric mean of candidate over baseline; 1.03 is 3 % more.
        low, high: its 95 % interval; `None` with one pair.
        p_value: of no difference, by Student's t on the log-ratios, two-sided; what the interval says. `None` with one
            pair.
        p_holm: the same among all cells that are looked at together; only below 0.05 there is a winner.
        p_sign_flip: by flipping the signs of the log-ratios, which assumes no distribution. With n pairs it cannot be
            below 2 / 2ⁿ: 0.06 with five, so it is shown and decides nothing.
        margin: the difference that counts as none: the requested one, or the noise of the host if that is more.
        noise: of the host; a ratio that is no farther from 1 names no winner, however sure it is.
        verdict: `faster`, `slower`, `equivalent` or `inconclusive`, of the candidate; or that there is none.
    """

    pairs: int
    ratio: float
    low: float | None
    high: float | None
    p_value: float | None
    p_holm: float | None
    p_sign_flip: float | None
    margin: float
    noise: float
    verdict: str

    @property
    def within_noise(self) -> bool:
        """Return whether the host's own noise is as much as the ratio, so that it names no winner."""
        return abs(float(np.log(self.ratio))) <= float(np.log1p(self.noise))

    @property
    def taken_back(self) -> bool:
        """Return whether the interval alone would name a winner, and Holm's correction does not."""
        alone = self.p_value is not None and self.p_value < SIGNIFICANCE and not self.within_noise
        return self.verdict == INCONCLUSIVE and alone


def compare(
    baseline_per_s: Sequence[float],
    candidate_per_s: Sequence[float],
    margin: float = MARGIN,
    noise: float = 0.0,
    seed: int = 0,
) -> Comparison:
    """Compare two sides by one cell's trials.

    Args:
        baseline_per_s, candidate_per_s: throughput of each trial, above 0; those of one place were run next to each
            other.
        margin: the share that counts as no difference.
        noise: what a system differs from itself by on this host (`aa_noise`).
        seed: of the signs that are flipped if there are too many to try all.

    Raises:
        ValueError: there is no pair, the sides differ in length, or a throughput is not above 0.
    """
    ratios = log_ratios(baseline_per_s, candidate_per_s)
    pairs, centre, margin = len(ratios), float(ratios.mean()), max(margin, noise)
    if pairs == 1:
        return Comparison(1, float(np.exp(centre)), None, None, None, None, None, margin, noise, SINGLE)
    error = max(float(ratios.std(ddof=1)), RESOLUTION) / np.sqrt(pairs)
    half = quantile((1 + CONFIDENCE) / 2, pairs - 1) * error
    p_value = 2 * probability_below(-abs(centre) / error, pairs - 1)
    low, high = float(np.exp(centre - half)), float(np.exp(centre + half))
    flipped = sign_flip_p(ratios, seed)
    comparison = Comparison(
        pairs, float(np.exp(centre)), low, high, p_value, p_value, flipped, margin, noise, INCONCLUSIVE
    )
    return replace(comparison, verdict=_verdict(comparison, low, high, p_value))


def log_ratios(baseline_per_s: Sequence[float], candidate_per_s: Sequence[float]) -> np.ndarray:
    """The logarithms of candidate over baseline, pair by pair, shape (pairs,); raises ValueError as `compare`."""
    sides = np.asarray(baseline_per_s, float), np.asarray(candidate_per_s, float)
    if len(sides[0]) != len(sides[1]) or not len(sides[0]):
        raise ValueError("a comparison needs as many trials on one side as on the other, at least one")
    if min(side.min() for side in sides) <= 0:
        raise ValueError("a trial without throughput has no ratio")
    return np.asarray(np.log(sides[1]) - np.log(sides[0]))


def _verdict(comparison: Comparison, low: float, high: float, p_value: float) -> str:
    """Equivalent: the whole interval lies within the margin. Else a winner needs an interval without 1, and a ratio
    beyond what the host differs from itself by: an interval tells of these pairs, the noise of another afternoon's.
    """
    if 1 / (1 + comparison.margin) <= low and high <= 1 + comparison.margin:
        return EQUIVALENT
    if p_value >= SIGNIFICANCE or comparison.within_noise:
        return INCONCLUSIVE
    return FASTER if low > 1 else SLOWER


def sign_flip_p(log_ratios: np.ndarray, seed: int) -> float:
    """The share of all assignments of signs under which the mean lies as far from 0; exact up to 12 pairs, else
    sampled.

    Fisher's randomisation test of paired differences.

    Args:
        log_ratios: shape (pairs,).
        seed: of the sample.
    """
    pairs = len(log_ratios)
    if pairs <= EXACT_PAIRS:
        signs = np.array(list(product((1, -1), repeat=pairs)))
    else:
        drawn = np.random.default_rng(seed).choice((1, -1), (SAMPLED_SIGNS - 1, pairs))
        # The observed assignment is one of them, so that p is never 0.
        signs = np.concatenate((np.ones((1, pairs), int), drawn))
    sums = np.abs(signs @ log_ratios)
    return float((sums >= abs(log_ratios.sum()) - 1e-12).mean())


def holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Take the winners back that are to be expected by chance among so many cells (Holm 1979).

    Equivalence is no discovery and stands. Those with one pair take no part.
    """
    known = [comparison.p_value for comparison in comparisons if comparison.p_value is not None]
    adjusted = iter(holm_adjusted(known))
    return [
        comparison if comparison.p_value is None else _corrected(comparison, next(adjusted))
        for comparison in comparisons
    ]


def _corrected(comparison: Comparison, p_holm: float) -> Comparison:
    lost = comparison.verdict in (FASTER, SLOWER) and p_holm >= SIGNIFICANCE
    return replace(comparison, p_holm=p_holm, verdict=INCONCLUSIVE if lost else comparison.verdict)


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Return each p as it counts among all of them (Holm 1979), in their order."""
    adjusted, highest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def paired_t(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the two-sided p of no difference between pairs, by Student's t; 1 with fewer than two pairs.

    A quantity that is exactly the same in every trial of a side is not known more exactly than `RESOLUTION`.
    """
    differences = np.asarray(after, float) - np.asarray(before, float)
    if len(differences) < 2:
        return 1.0
    least = RESOLUTION * max(1e-12, float(np.abs([before, after]).max()))
    error = max(float(differences.std(ddof=1)), least) / np.sqrt(len(differences))
    return 2 * probability_below(-abs(float(differences.mean())) / error, len(differences) - 1)


def aa_noise(comparison: Comparison) -> float:
    """The noise of a system compared with itself: the end of the interval that is farther from 1.

    Raises:
        ValueError: there was one pair, which has no interval.
    """
    if comparison.low is None or comparison.high is None:
        raise ValueError("the noise of a host needs at least two pairs")
    return max(1 / comparison.low, comparison.high) - 1


def is_narrow(comparison: Comparison, precise: float) -> bool:
    """Return whether the interval is ±`precise` wide at most: what pairs are added until, whatever p says.

    Stopping as soon as p is small finds a difference where none is.
    """
    if comparison.low is None or comparison.high is None:
        return False
    return bool((np.log(comparison.high) - np.log(comparison.low)) / 2 <= np.log1p(precise))


def confirmed_slowdown(comparison: Comparison) -> bool:
    """Return whether the candidate is slower for certain and by more than the margin: what may fail a build."""
    return comparison.verdict == SLOWER and comparison.ratio <= 1 / (1 + comparison.margin)
