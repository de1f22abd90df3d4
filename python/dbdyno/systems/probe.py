"""A connection to a server, to look at it while it is under load: what `System.probes` gives (dbdyno.observe.store)."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject


ANSWER_TIMEOUT_S = 2.0
"""For every answer, so that a server that hangs holds nothing else up."""
ROUND_TRIPS = 3

Names: TypeAlias = Mapping[str, str | tuple[str, float]]
"""A server's name of a figure to dbdyno's, or to dbdyno's and the factor of its unit."""


class Waits(NamedTuple):
    """The states of a server's connections at a moment.

    states: how many are `cpu` (at work, for all the server says), `disk`, `lock`, `commit`, `client` and `other`
    (dbdyno.observe.waits). locks: how many wait for each lock, by the name the server has for it.
    """

    states: Mapping[str, float]
    locks: Mapping[str, float]


class Probe(ABC):
    """One server's own view of itself. Every method but `close` raises RunFailed if the server does not answer.

    server: its name, as in `server_pids`. not_shown: what this user is not shown, band or column, and why. answered_by:
    the thread or process that answers, by the number that the server's kernel has for it; None if it does not say.
    round_trip_s: how long the shortest of a few answers took for which nothing is to be done.
    """

    def __init__(self, server: str) -> None:
        """Take the server's name; nothing is connected yet."""
        self.server = server
        self.not_shown: dict[str, str] = {}
        self.answered_by: int | None = None
        self.round_trip_s = 0.0

    @abstractmethod
    def open(self) -> None:
        """Connect, or connect anew, with a time-out."""

    @abstractmethod
    def counters(self) -> dict[str, float]:
        """Return the server's figures now; what is counted since it began ends in `_total`, units last."""

    def waits(self) -> Waits | None:
        """Return what its connections do now; None: it does not show it."""
        return None

    def locks(self) -> Mapping[str, float]:
        """Return its figures of single locks, by name, which cost too much to read as often as `waits`.

        How many connections wait for a lock now; how often it has been waited for, which ends in `_waits_total`; or
        for how long, which ends in `_wait_s_total`.
        """
        return {}

    def known_locks(self) -> Mapping[str, float] | None:
        """Return what `locks` would return, if the last counters tell that without asking; None: they do not."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Disconnect; may be called at any time, and twice."""


def shortest_s(ask: Callable[[], object]) -> float:
    """Return how long the shortest of a few answers took, in s."""
    took_s = []
    for _ in range(ROUND_TRIPS):
        began = time.monotonic()
        ask()
        took_s.append(time.monotonic() - began)
    return min(took_s)


def named(values: JsonObject, wanted: Names) -> dict[str, float]:
    """Return those of `wanted` that a server gave as numbers, under dbdyno's names.

    Returns what can be read as a number; a server may answer anything.
    """
    figures = {}
    for theirs, ours in wanted.items():
        name, unit = ours if isinstance(ours, tuple) else (ours, 1)
        # A server of the same protocol may say `unknown` instead of a number.
        with suppress(KeyError, TypeError, ValueError):
            figures[name] = float(values[theirs]) * unit
    return figures
