"""The search for the highest rate that holds a limit, without anything that runs: bracket, bisect, confirm, refute.

Near the answer a rate may hold once and fail once. So the rate that bisection ends at must hold three times more. If it
does not, the search goes down by one step, so the answer has held three times in a row. The next rate above must fail
twice more. If it does not, the search looks one step higher. Both ends of the answer are
repeated.
"""

from collections.abc import Callable
from dataclasses import dataclass

from dbdyno.experiment.rate import RATE_MAX_PER_S, round_rate

PRECISION = 1.05
"""The rate that held and the next that did not are at most this far apart."""
CONFIRMATIONS, REFUTATIONS = 3, 2
LOOKS_ABOVE_MAX = 4
"""Steps above the rate that is found, in which one is looked for that fails each time."""
BRACKET_FACTOR = 2.0
RISES_MAX = 4
"""Above 16 × what a closed loop reached a limit that still holds says nothing about the store."""
LOWEST_SHARE = 1 / 1024
"""Below this share of what a closed loop reached no limit that is meant holds by going lower."""
HoldsAt = Callable[[float, bool], bool]
"""Tries a rate, in transactions per second, and says whether it holds; the second argument is true to confirm."""


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        per_s: the highest rate that held each time, or `None`.
        fails_per_s: the lowest rate above it that failed each time; `None` if there was none.
        open_above: no rate was found not to hold.
    """

    per_s: float | None
    fails_per_s: float | None = None
    open_above: bool = False


def search(guess_per_s: float, holds: HoldsAt) -> SearchResult:
    """Return the highest rate that holds, to within 5 %, trying few.

    guess_per_s: about the most the store can do, above 0. holds: should, but for noise, be true below some rate only.
    """
    lowest = guess_per_s * LOWEST_SHARE
    low, high = _bracket(round_rate(guess_per_s), lowest, holds)
    while low is not None and high is not None and high > low * PRECISION:
        middle = round_rate((low * high) ** 0.5)
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle, False) else (low, middle)
    while low is not None and not all(holds(low, True) for _ in range(CONFIRMATIONS)):
        low, high = _lower(low, PRECISION, lowest), low
    if low is None or high is None:
        return SearchResult(low, open_above=low is not None)
    return SearchResult(low, _refuted(high, holds))


def _refuted(rate: float, holds: HoldsAt) -> float | None:
    """Return the lowest of some rates that fails each time, from the one on that has failed once."""
    for _ in range(LOOKS_ABOVE_MAX):
        if not any([holds(rate, True) for _ in range(REFUTATIONS)]):
            return rate
        rate = min(round_rate(rate * PRECISION), RATE_MAX_PER_S)
    return None


def _bracket(rate: float, lowest: float, holds: HoldsAt) -> tuple[float | None, float | None]:
    """Return a rate that holds and one that does not; None for the one that there is not."""
    if holds(rate, False):
        for _ in range(RISES_MAX):
            higher = min(round_rate(rate * BRACKET_FACTOR), RATE_MAX_PER_S)
            if higher == rate or not holds(higher, False):
                return rate, None if higher == rate else higher
            rate = higher
        return rate, None
    while (lower := _lower(rate, BRACKET_FACTOR, lowest)) is not None:
        if holds(lower, False):
            return lower, rate
        rate = lower
    return None, rate


def _lower(rate: float, factor: float, lowest: float) -> float | None:
    lower = round_rate(rate / factor)
    return lower if lowest <= lower < rate else None
