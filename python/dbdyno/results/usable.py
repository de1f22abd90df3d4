"""The trials that may be compared, by what figure, and how even they were."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from dbdyno.results.model import Trial
    from dbdyno.stats.stalls import StallFigures


def unusable(trial: Trial) -> str | None:
    """Return why a trial's throughput may not be used, or `None` if it may."""
    if trial.state != "complete":
        return f"{trial.state}{f': {trial.reason}' if trial.reason else ''}"
    if wrong := trial.recorded.sums.mismatches:
        return f"{wrong} answers were wrong"
    if failed := trial.recorded.sums.failed:
        return f"{failed} transactions failed"
    return None if trial.recorded.throughput_per_s else "nothing was completed"


def compared_rate_per_s(trial: Trial) -> float:
    """Return what a usable trial is compared by: the mean of its steady state, or of all it measured if it has none."""
    return trial.recorded.steady_throughput_per_s or 0.0


class Evenness(TypedDict):
    """The figures beside every mean: floor, stalls, and the longest time without a completion."""

    floor: float | None
    longest_without_completion_s: int | None
    variation_1s: float | None
    stalls: StallFigures | None
    seconds: NotRequired[int]
    seconds_below_tenth: NotRequired[int | None]


def evenness(trials: Iterable[Trial]) -> Evenness:
    """The worst of the usable trials: equal means may hide that one of two stalls (docs/statistics.md, section 4)."""
    usable = [trial.recorded for trial in trials if not unusable(trial)]
    even = [recorded.stability for recorded in usable]
    stalled = [recorded.stalls for recorded in usable if recorded.stalls]
    worst = max(stalled, key=lambda stalls: stalls.longest_ms, default=None)
    variations = [stability.variation_1s for stability in even if stability.variation_1s is not None]
    return {
        "floor": min((stability.floor for stability in even if stability.floor is not None), default=None),
        "longest_without_completion_s": max(
            (stability.longest_without_completion_s for stability in even), default=None
        ),
        "variation_1s": max(variations, default=None),
        "stalls": worst.figures() if worst else None,
    }
