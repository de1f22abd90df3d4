"""Stalls: times in which a trial completed nothing, from the gaps that its load client recorded.

docs/statistics.md, section 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np

SHORTEST_MS = 10
"""Load clients record no shorter gap, and no shorter one is a stall."""
MEAN_GAPS = 10
"""A stall lasts this many mean times between two transactions: a slow trial has long gaps that are no stalls."""
MEDIANS = 2
"""And it lasts this many median transactions: clients that wait for the same slow flush complete in bursts."""
NOTABLE_SHARE = 0.01
"""Stalls are mentioned if they take this share of the time …"""
NOTABLE_MS = 100
"""… or if the longest of them lasts this long. On any host a thread now and then waits 10 ms for a processor."""
_LENGTHS_MS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


class StallSecond(NamedTuple):
    """The stalls of one measured second.

    Attributes:
        ended: how many stalls ended in it.
        longest_ms: the longest stall of which a part lies in it, in its whole length; 0 without one.
        share: how much of the second they took, 0 to 1.
    """

    ended: int
    longest_ms: float
    share: float


NO_STALL = StallSecond(0, 0.0, 0.0)


class StallLength(TypedDict):
    """How many stalls lasted at least so long, and less than the next length."""

    from_ms: float
    count: int


class StallFigures(TypedDict):
    """The stalls of a trial without its seconds, as a report has them."""

    threshold_ms: float
    count: int
    per_s: float
    longest_ms: float
    share: float
    lengths: Sequence[StallLength]
    notable: bool


@dataclass(frozen=True, slots=True)
class Stalls:
    """The stalls of a trial's measured time.

    Attributes:
        seconds: how long was measured.
        threshold_ms: the shortest gap that counts as a stall in this trial.
        count: how many stalls ended in the measured time.
        longest_ms: the longest of them; 0 without one.
        share: how much of the measured time they took, 0 to 1.
        lengths: how many stalls there were by length, as (from_ms, count), shortest first; lengths without one are left
            out.
        per_second: one entry for each measured second, in their order.
    """

    seconds: float
    threshold_ms: float
    count: int
    longest_ms: float
    share: float
    lengths: tuple[tuple[int, int], ...]
    per_second: tuple[StallSecond, ...]

    @property
    def per_s(self) -> float:
        """Stalls per second of measured time."""
        return self.count / self.seconds

    @property
    def notable(self) -> bool:
        """Return whether a reader should be told of them."""
        return self.share >= NOTABLE_SHARE or self.longest_ms >= NOTABLE_MS

    def figures(self) -> StallFigures:
        """Return all but the seconds."""
        return {
            "threshold_ms": self.threshold_ms,
            "count": self.count,
            "per_s": self.per_s,
            "longest_ms": self.longest_ms,
            "share": self.share,
            "lengths": [{"from_ms": from_ms, "count": count} for from_ms, count in self.lengths],
            "notable": self.notable,
        }


def stalls(gaps_ns: np.ndarray, edges_ns: Sequence[int], completed: int, median_ns: float | None) -> Stalls | None:
    """Find the stalls among the gaps between completions.

    Args:
        gaps_ns: begin and length of every recorded gap, in the order of time, whole nanoseconds, shape (n, 2).
        edges_ns: where the measured seconds begin, and the end of the last, on the same clock.
        completed: transactions completed in the measured time.
        median_ns: their median service time; `None` if they are too few to tell.

    Returns `None` if nothing was completed or measured: then there is no usual gap to compare with.
    """
    if len(edges_ns) < 2 or edges_ns[-1] <= edges_ns[0] or not completed:
        return None
    edges = np.array(edges_ns, np.int64)
    measured_ns = int(edges[-1] - edges[0])
    usual_ns = max(MEAN_GAPS * measured_ns / completed, MEDIANS * (median_ns or 0.0))
    threshold_ms = max(float(SHORTEST_MS), usual_ns / 1e6)
    begins, ends = gaps_ns[:, 0], gaps_ns.sum(axis=1)
    is_stall = (gaps_ns[:, 1] >= threshold_ms * 1e6) & (ends > edges[0]) & (begins < edges[-1])
    begins, ends = begins[is_stall], ends[is_stall]
    lengths_ms = (ends - begins) / 1e6
    stalled_ns = int((np.minimum(ends, edges[-1]) - np.maximum(begins, edges[0])).sum())
    return Stalls(
        measured_ns / 1e9,
        threshold_ms,
        len(begins),
        float(lengths_ms.max(initial=0)),
        stalled_ns / measured_ns,
        _by_length(lengths_ms),
        _per_second(begins, ends, edges),
    )


def _per_second(begins: np.ndarray, ends: np.ndarray, edges: np.ndarray) -> tuple[StallSecond, ...]:
    """Spread stalls over the seconds that they lie in. They are in order and do not overlap."""
    firsts = np.searchsorted(ends, edges[:-1], "right").tolist()
    lasts = np.searchsorted(begins, edges[1:], "left").tolist()
    seconds = zip(edges[:-1].tolist(), edges[1:].tolist(), firsts, lasts, strict=True)
    return tuple(
        _second(begins[first:last], ends[first:last], begin, end) if first < last else NO_STALL
        for begin, end, first, last in seconds
    )


def _second(begins: np.ndarray, ends: np.ndarray, begin: int, end: int) -> StallSecond:
    within_ns = int((np.minimum(ends, end) - np.maximum(begins, begin)).sum())
    longest_ms = float((ends - begins).max()) / 1e6
    return StallSecond(int((ends <= end).sum()), longest_ms, within_ns / max(1, end - begin))


def _by_length(lengths_ms: np.ndarray) -> tuple[tuple[int, int], ...]:
    counts = np.bincount(np.searchsorted(_LENGTHS_MS, lengths_ms, "right") - 1, minlength=len(_LENGTHS_MS)).tolist()
    return tuple((from_ms, count) for from_ms, count in zip(_LENGTHS_MS, counts, strict=True) if count)
