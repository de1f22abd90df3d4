"""How a host's clock stands against the conductor's, by round trips (docs/several-hosts.md, Clocks)."""

import time
from dataclasses import dataclass

from dbdyno.hosts.channel import Channel

TRIPS = 20
"""Round trips of one comparison; the fastest counts."""
MOST_DRIFT = 0.001
"""A share of the time between two comparisons: the kernel corrects a clock by at most half of that."""
SLACK_S = 0.005
"""Beside the error bounds of both comparisons."""


@dataclass(frozen=True)
class Reading:
    """One comparison.

    Attributes:
        offset_s: what the host's clock shows more than the conductor's.
        error_s: the offset is known to within this, half of the fastest round trip.
        at_s: when, of the conductor's clock that only rises.
    """

    offset_s: float
    error_s: float
    at_s: float


async def compare(channel: Channel, trips: int = TRIPS) -> Reading:
    """Return the reading of the fastest of `trips` round trips; raises Lost if the host does not answer."""
    readings = [await _trip(channel) for _ in range(trips)]
    return min(readings, key=lambda reading: reading.error_s)


async def _trip(channel: Channel) -> Reading:
    # In this order, so that the time taken has all that may have passed since the clock was read.
    sent_ns, sent_unix_ns = time.perf_counter_ns(), time.time_ns()
    await channel.send({"say": "clock"})
    while "unix_ns" not in (answer := await channel.receive()):
        continue
    took_ns = time.perf_counter_ns() - sent_ns
    return Reading((answer["unix_ns"] - sent_unix_ns - took_ns / 2) / 1e9, took_ns / 2e9, time.monotonic())


def drift_s(before: Reading, after: Reading) -> float:
    """Return by how much the offset changed between two readings."""
    return after.offset_s - before.offset_s


def why_unsteady(before: Reading, after: Reading) -> str | None:
    """Return that a clock was set between two readings, by how much; None if it only drifted as clocks do."""
    allowed_s = before.error_s + after.error_s + SLACK_S + MOST_DRIFT * max(0.0, after.at_s - before.at_s)
    if abs(moved_s := drift_s(before, after)) <= allowed_s:
        return None
    return f"its clock was set by {moved_s:+.3f} s during the trial"


def own_clocks(tries: int = 5) -> Reading:
    """Return what this host's clock shows more than the one that only rises, of the try that took least.

    The process may have to wait for a processor between reading the one and the other.
    """
    return min((_own_clocks() for _ in range(tries)), key=lambda reading: reading.error_s)


def _own_clocks() -> Reading:
    before_ns, unix_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return Reading((unix_ns - (before_ns + after_ns) / 2) / 1e9, (after_ns - before_ns) / 2e9, after_ns / 1e9)
