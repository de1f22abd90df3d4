"""Counters of servers, processes and disks that differ per transaction by more than noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from dbdyno.report.core import words
from dbdyno.report.why.evidence import BY_THE_CLOCK, LEAST_SHARE, Evidence, Pairs, beyond_noise
from dbdyno.results.model import Trial

LEAST_EVENTS = 10
"""Events in each trial of the side that has more; rarer events explain nothing."""
LEAST_FACTOR = 1.02
"""Smaller changes count as equal, as for throughput."""
_AGAINST = "against the time, so it adds none itself"
_SAME_PER_SECOND = "the same per second: driven by the clock, or saturated"
_PER_TRANSACTION = ("process.", "disk.", "store.")
_TOTAL, _SECONDS = "_total", " s"


@dataclass(frozen=True)
class _Counted:
    """One trial's events by counter, and the transactions and seconds in which they were counted."""

    events: dict[str, float]
    transactions: dict[str, float]
    seconds: dict[str, float]


def counters(pairs: Pairs) -> list[Evidence]:
    """Return the counters that changed; first those that can explain most.

    A counter can explain the share that its change has of the change in time, if time grew with it: 3 % more events
    cannot explain 30 % more time. At most it explains everything. One that fell while time grew, or the other way
    round, comes last and has no share: it may be a sign, as fewer hits in a cache are, and costs no time. So does one
    that is the same per second: whatever makes transactions fewer makes it more for each.
    """
    sides = [[_counted(trial) for trial in pairs.side(which)] for which in (0, 1)]
    if len(pairs.trials) < 2 or not pairs.log_time:
        return []
    names = set.intersection(*(set(counted.events) for side in sides for counted in side))
    often = {
        name
        for name in names
        if max(min(counted.events[name] for counted in side) for side in sides)
        >= (0 if _is_time(name) else LEAST_EVENTS)
        and min(counted.events[name] for side in sides for counted in side) >= 0
    }
    logs = {
        name: (
            [_log_per_transaction(counted, name) for counted in sides[0]],
            [_log_per_transaction(counted, name) for counted in sides[1]],
        )
        for name in sorted(often)
    }
    changed = [_evidence(name, pairs, sides) for name in beyond_noise(logs)]
    ranked = sorted(filter(None, changed), key=lambda pair: (bool(pair[0].note), -pair[1]))
    return [evidence for evidence, _ in ranked]


def _log_per_transaction(counted: _Counted, name: str) -> float:
    """Return the logarithm of the events per transaction, with half an event added so that 0 has one too."""
    return log((counted.events[name] + 0.5) / counted.transactions[name])


def _evidence(name: str, pairs: Pairs, sides: list[list[_Counted]]) -> tuple[Evidence, float] | None:
    """Return the evidence of one counter, and by how much it changed; `None` if that is too little."""
    logs = [np.mean([_log_per_transaction(counted, name) for counted in side]) for side in sides]
    change = float(logs[1] - logs[0])
    if abs(change) < log(LEAST_FACTOR):
        return None
    means = [float(np.mean([counted.events[name] / counted.transactions[name] for counted in side])) for side in sides]
    is_time, is_against = _is_time(name), change * pairs.log_time < 0
    added_us = (means[1] - means[0]) * 1e6 * _queue_factor(name, pairs)
    share = added_us / pairs.time_us if is_time else abs(change / pairs.log_time)
    if share < LEAST_SHARE:
        return None
    by_second = [
        np.mean([log((counted.events[name] + 0.5) / counted.seconds[name]) for counted in side]) for side in sides
    ]
    clock = abs(float(by_second[1] - by_second[0])) < BY_THE_CLOCK * abs(change)
    before, after = (words.length(1e6 * mean) if is_time else words.significant(mean) for mean in means)
    name = name.replace(f"{_SECONDS} of ", " time of ", 1)
    note = _AGAINST if is_against else _SAME_PER_SECOND if clock else ""
    # Processor time that is saturated is the same per second, and does explain the difference.
    share = 0.0 if is_against or (clock and not is_time) else min(1.0, share)
    return Evidence("counter", f"{name} per transaction", before, after, share, note), abs(change)


def _queue_factor(name: str, pairs: Pairs) -> float:
    quantity, _, process = name.partition(" of ")
    return pairs.queue_factor(process) if quantity.startswith("cpu ") else 1.0


def _is_time(name: str) -> bool:
    return name.partition(" of ")[0].endswith(_SECONDS)


def _counted(trial: Trial) -> _Counted:
    events: dict[str, float] = {}
    transactions: dict[str, float] = {}
    seconds: dict[str, float] = {}
    recorded = trial.recorded
    measured = (float(recorded.completed), recorded.seconds)
    # Servers are asked before and after the load client runs, so their counters include the warm-up.
    whole = (float(recorded.sums.completed), sum(interval.seconds for interval in recorded.intervals))
    for of_what, (done, took_s), counted in ((_of_servers, whole, trial), (_observed, measured, trial)):
        for name, value in of_what(counted):
            if done and took_s:
                events[name], transactions[name], seconds[name] = value, done, took_s
    return _Counted(events, transactions, seconds)


def _of_servers(trial: Trial) -> Iterator[tuple[str, float]]:
    """Yield by how much every server's own counters rose."""
    of_servers = trial.facts.server_counters or {}
    for server, counted in of_servers.items():
        before, after = counted.get("before") or {}, counted.get("after") or {}
        prefix = f"{server} " if len(of_servers) > 1 else ""
        for name, value in after.items():
            if isinstance(value, int | float) and isinstance(first := before.get(name), int | float):
                yield f"{prefix}{name}", float(value - first)


def _observed(trial: Trial) -> Iterator[tuple[str, float]]:
    """Yield the events that kernel and stores counted in the measured time: of processes, of the disk, in the store."""
    for name, per_s in trial.observed.items():
        if name.startswith(_PER_TRANSACTION) and name.endswith(_TOTAL):
            yield _words(name), per_s * trial.recorded.seconds


def _words(column: str) -> str:
    band, of, quantity = column.removesuffix(_TOTAL).split(".", 2)
    return f"{quantity.replace('_', ' ')} of {'device ' if band == 'disk' else ''}{of}"
