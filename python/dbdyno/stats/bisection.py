"""Searches builds for the first slow one, by steps that are each an interval (docs/statistics.md, section 3.9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log, log2

import numpy as np

from dbdyno.stats.sequential import Decision, half_width

GOOD, BAD, INCONCLUSIVE = "good", "bad", "inconclusive"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The place where the builds became slow: build `last_good` is not slow, build `first_bad` is.

    If builds between both were inconclusive, the first slow one is among them or is `first_bad`.
    """

    last_good: int
    first_bad: int

    @property
    def is_exact(self) -> bool:
        """Return whether no build is left between both."""
        return self.first_bad == self.last_good + 1


def most_steps(builds: int) -> int:
    """Return how many builds between the first and the last are measured at most, if none is inconclusive."""
    return ceil(log2(builds - 1)) if builds > 2 else 0


def is_known(effect: Decision) -> bool:
    """Return whether an effect is known well enough for steps that look for half of it.

    Its interval reaches no further than half of it to either side. A first significant difference is larger than the
    true one on average, so half of that could be more than there is to find.
    """
    if effect.low is None or effect.high is None:
        return False
    return log(effect.high / effect.low) <= abs(log(effect.ratio))


def step(log_ratios: Sequence[float], effect: float, comparisons: int) -> Decision:
    """Judge a build by pairs with the good one: `good` or `bad`, or no outcome yet.

    It is bad if the interval lies beyond half of the effect, good if it lies on this side of it.

    Args:
        log_ratios: the logarithm of this build over the good one, a pair each.
        effect: the logarithm of the bad build over the good one.
        comparisons: how many steps there are at most; the intervals of all hold at once.
    """
    centre, half = float(np.mean(log_ratios)), half_width(log_ratios, comparisons)
    decision = Decision(len(log_ratios), float(np.exp(centre)), None, None, None)
    if half is None:
        return decision
    decision = replace(decision, low=float(np.exp(centre - half)), high=float(np.exp(centre + half)))
    # Towards the effect is positive here, whichever way the builds became different.
    toward = centre if effect > 0 else -centre
    if toward - half > abs(effect) / 2:
        return replace(decision, outcome=BAD)
    return replace(decision, outcome=GOOD) if toward + half < abs(effect) / 2 else decision


def search(builds: int, judge: Callable[[int], str], known: Mapping[int, str] | None = None) -> SearchResult:
    """Find the first bad of `builds`, of which the first is good and the last is bad.

    Args:
        judge: measures a build and returns `good`, `bad` or `inconclusive`; the next nearest to the middle is then
            asked instead.
        known: builds that were judged before.
    """
    outcomes = {0: GOOD, builds - 1: BAD} | dict(known or {})
    while True:
        first_bad = min(build for build, outcome in outcomes.items() if outcome == BAD)
        last_good = max(build for build, outcome in outcomes.items() if outcome == GOOD and build < first_bad)
        left = [build for build in range(last_good + 1, first_bad) if build not in outcomes]
        if not left:
            return SearchResult(last_good, first_bad)
        middle = (last_good + first_bad) / 2
        build = min(left, key=lambda number: (abs(number - middle), number))
        outcomes[build] = judge(build)
