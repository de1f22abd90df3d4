"""Decide whether an open loop's store kept up, by how many arrivals were outstanding, second by second.

The completed share alone does not tell. A store that is half a percent too slow completes more than 99 % of any trial,
and falls seconds behind in a long one. One that fell behind in the warm-up may work off exactly what is offered, and
never catch up. In a short trial the transactions in service at the end are some percent of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

DONE = 0.99
"""A store that completes less than this share of what an open loop offers does not follow it."""
WAITING_S = 1.0
"""So many seconds of arrivals, or what `DONE` leaves of them if that is less, may wait for a client."""
THIRD_S = 3
"""A backlog grows if the means of three thirds of the time rise; each third is at least this long."""
EVENLY = 0.25
"""Least share of each step in the growth from the first third to the last: one stall is no growing backlog."""
SPREAD = 2.0
"""Standard deviations, of arrivals drawn at random, that may be in service beyond their mean."""


@dataclass(frozen=True, slots=True)
class Offered:
    """The load that an open loop offered in the measured time, and its outcome.

    Attributes:
        outstanding: arrivals due that had neither completed nor failed, when measuring began and at the end of each of
            its seconds; shape (seconds + 1,).
        due, completed: arrivals and transactions in that time.
        seconds: how long it was.
        clients: how many transactions can be in service at once.
        service_s: mean service time of the completed ones.
    """

    outstanding: np.ndarray
    due: int
    completed: int
    seconds: float
    clients: int
    service_s: float


def behind(offered: Offered) -> str | None:
    """Return the sign that the store did not follow, or `None` if it did."""
    if offered.due - offered.completed > _left_at_any_end(offered):
        return f"only {offered.completed / offered.due:.1%} of the offered load was completed"
    waiting = offered.outstanding - offered.clients
    much = min((1 - DONE) * offered.due, WAITING_S * offered.due / offered.seconds)
    if waiting.min() > much:
        return f"it never caught up: {waiting.min():,.0f} arrivals or more waited in every second"
    if waiting[-1] > much and _grew_evenly(waiting[1:]):
        return f"the backlog grew, to {waiting[-1]:,.0f} arrivals at the end"
    return None


def _left_at_any_end(offered: Offered) -> float:
    """Return how many arrivals may be left: a hundredth, or those that are always in service (Little's law).

    Those that were outstanding at the beginning do not count. The end may cut one transaction in any case.
    """
    in_service = min(offered.clients, offered.due / offered.seconds * offered.service_s)
    in_service += SPREAD * sqrt(in_service)
    return max((1 - DONE) * offered.due, 1.0, in_service - float(offered.outstanding[0]))


def _grew_evenly(waiting: np.ndarray) -> bool:
    if len(waiting) < 3 * THIRD_S:
        return False
    first, middle, last = (third.mean() for third in np.array_split(waiting, 3))
    return bool(last > first and min(middle - first, last - middle) >= EVENLY * (last - first))
