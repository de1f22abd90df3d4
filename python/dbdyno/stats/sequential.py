"""Decides between two sides while pairs are still being added (docs/statistics.md, section 3.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbdyno.stats.comparison import CONFIDENCE, FASTER, RESOLUTION, SLOWER

SAME, UNSTABLE = "same", "unstable"
EFFECT = 3.0
"""Standard deviation, in those of a pair, of the effects that the interval is made for; it holds for any effect."""
FIRST_PAIRS = 3
"""With fewer no interval has ends, not even that of a single comparison; `least_pairs` counts for several."""
MOST_PAIRS = 200
"""The interval is half as wide as after 50. Twice as many would narrow it by less than a third."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a candidate against a baseline by the pairs so far.

    Attributes:
        ratio: geometric mean of candidate over baseline.
        low, high: the interval of the ratio, right at every number of pairs at once; `None` if it has no end yet.
        outcome: `same`, `faster`, `slower` or `unstable`, or `None` if another pair may still decide it.
    """

    pairs: int
    ratio: float
    low: float | None
    high: float | None
    outcome: str | None


def decide(log_ratios: Sequence[float], margin: float, noise: float = 0.0, comparisons: int = 1) -> Decision:
    """Judge pairs; may be called after every pair, and any rule may say when to stop.

    *Faster* and *slower* need an interval without 1 and a ratio beyond margin and noise. *Same* needs an interval
    within the margin. If the noise is above the margin, an interval within the noise is *unstable*: no number of pairs
    can tell a difference of the size of the margin.

    Args:
        log_ratios: the logarithm of candidate over baseline, a pair each; at least one.
        margin: the share that counts as no difference.
        noise: what a system differs from itself by on this host, as `dbdyno aa` measured it.
        comparisons: how many are judged together; their intervals all hold at once (Bonferroni).
    """
    centre, half = float(np.mean(log_ratios)), half_width(log_ratios, comparisons)
    ratio = float(np.exp(centre))
    if half is None:
        return Decision(len(log_ratios), ratio, None, None, None)
    low, high, clear = centre - half, centre + half, float(np.log1p(max(margin, noise)))
    outcome = None
    if abs(centre) >= clear and not low <= 0 <= high:
        outcome = FASTER if centre > 0 else SLOWER
    elif -clear <= low and high <= clear:
        outcome = SAME if noise <= margin else UNSTABLE
    return Decision(len(log_ratios), ratio, float(np.exp(low)), float(np.exp(high)), outcome)


def half_width(log_ratios: Sequence[float], comparisons: int = 1) -> float | None:
    """Return how far the interval reaches on either side of the mean, or `None` if there is no end.

    The confidence sequence of Lai (*On Confidence Sequences*, 1976) for a normal mean of unknown variance, with a
    normal mixture over effect sizes (Wang & Ramdas, *Anytime-valid t-tests and Confidence Sequences for Gaussian Means
    with Unknown Variance*, 2024). The mean is in all its intervals at once with the confidence of `CONFIDENCE`.
    """
    width = _width(len(log_ratios), comparisons)
    return None if width is None else max(float(np.std(log_ratios)), RESOLUTION) * width


def least_pairs(comparisons: int = 1) -> int:
    """Return the fewest pairs with which an interval has ends, if so many are judged together."""
    return next(pairs for pairs in range(FIRST_PAIRS, MOST_PAIRS) if _width(pairs, comparisons) is not None)


def _width(pairs: int, comparisons: int) -> float | None:
    """Return the half-width in standard deviations of a pair, or `None` if there is no end."""
    weight, level = EFFECT**-2, (1 - CONFIDENCE) / comparisons
    taken = 1 - ((pairs + weight) / weight / level**2) ** (-1 / pairs)
    free = pairs - taken * (pairs + weight)
    return float(np.sqrt(taken * (pairs + weight) / free)) if free > 0 else None


def more_pairs(log_ratios: Sequence[float], margin: float, comparisons: int = 1) -> int:
    """Return about how many more pairs would decide it, if mean and scatter stay as they are.

    At least one. If more than `MOST_PAIRS` are needed in all, as many as exceed it by one.
    """
    centre, clear = abs(float(np.mean(log_ratios))), float(np.log1p(margin))
    # To leave out "no difference", or to lie within the margin.
    wanted = centre if centre >= clear else clear - centre
    spread, done = max(float(np.std(log_ratios)), RESOLUTION), len(log_ratios)
    for pairs in range(done + 1, MOST_PAIRS + 1):
        width = _width(pairs, comparisons)
        if width is not None and spread * width <= wanted:
            return pairs - done
    return max(1, MOST_PAIRS + 1 - done)


def aa_noise(baseline_per_s: Sequence[float], comparisons: int = 1) -> float | None:
    """Return what the baseline would seem to differ from itself by: the interval of its successive trials, as a share.

    Successive trials of one side differ by nothing but the host. `None` if there are too few of them.
    """
    steps = np.diff(np.log(np.asarray(baseline_per_s, float)))
    if len(steps) < FIRST_PAIRS - 1:
        return None
    scatter = float(np.sqrt(np.mean(steps**2)))
    half = half_width(list(np.resize((1.0, -1.0), len(steps) + 1) * scatter), comparisons)
    return None if half is None else float(np.expm1(half))
