"""The lock that was waited for most in a trial, as its servers show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dbdyno.results.conclusions import Lock, Locks
from dbdyno.verdict.evidence import Measured

if TYPE_CHECKING:
    from dbdyno.results.model import Trial

BAND = "locks"
COUNTED, TIMED = "_waits_total", "_wait_s_total"
ALL_LOCKS, ALL_ROW_LOCKS = "locks", "row locks"
ALL_LATCHES = ("latches", f"latches{COUNTED}", f"latches{TIMED}")
"""Columns of all together: they show that it was looked, or that a server counts them."""
_ROW, _TABLE = "row lock", "table lock, "
_ROW_LOCK_TIME, _ROW_LOCKS = "row_lock_s_total", "row_lock_waits_total"
_OF_LATCHES = ("LWLock:", "BufferPin:")
MOST_KEPT = 10
LEAST_WAITING = 0.01
"""Mean number of waiting operations: less is a single sample with a wait, which delays nothing."""


def locks_of(trial: Trial) -> tuple[Lock, ...]:
    """Return every lock worth a word, those waited for most first; of those only counted, the most often."""
    measured = Measured.of(trial)
    seen = [] if measured is None else _with_counted_row_locks(list(_locks(measured)), measured)
    notable = [
        lock for lock in seen if (lock.waiting >= LEAST_WAITING if lock.waiting is not None else lock.waits_per_s)
    ]
    return tuple(sorted(notable, key=lambda lock: (-(lock.waiting or 0.0), -(lock.waits_per_s or 0.0))))


def _locks(measured: Measured) -> Iterator[Lock]:
    for column in measured.observations.names(f"{BAND}."):
        _, server, name = column.split(".", 2)
        if name in (ALL_LOCKS, ALL_ROW_LOCKS, *ALL_LATCHES):
            continue
        if name.endswith(TIMED):
            yield Lock(server, name.removesuffix(TIMED), True, measured.rate(column), None)
        elif name.endswith(COUNTED):
            yield Lock(server, name.removesuffix(COUNTED), True, None, measured.rate(column))
        else:
            yield Lock(server, name, name.startswith(_OF_LATCHES), _waiting(measured, server, column), None)


def _with_counted_row_locks(locks: list[Lock], measured: Measured) -> list[Lock]:
    """A store may count waits for row locks exactly and without names; samples give names, and miss short waits.

    A wait is counted when it ends, so samples may also have seen more.
    """
    for column in measured.observations.names("store."):
        if not column.endswith(_ROW_LOCK_TIME):
            continue
        server, before = column.split(".")[1], column.removesuffix(_ROW_LOCK_TIME)
        waiting, per_s = (measured.rate(before + counter) or 0.0 for counter in (_ROW_LOCK_TIME, _ROW_LOCKS))
        named = [lock for lock in locks if lock.server == server and lock.name.startswith(_ROW) and lock.waiting]
        sampled = sum(lock.waiting or 0.0 for lock in named)
        locks = [lock for lock in locks if lock not in named]
        for lock in named or [Lock(server, f"{_ROW}s, tables not observed", False, 1.0, None)]:
            share = (lock.waiting or 0.0) / (sampled or 1.0)
            locks.append(Lock(server, lock.name, False, share * max(waiting, sampled), share * per_s))
    return locks


def _waiting(measured: Measured, server: str, column: str) -> float:
    """The mean of a lock's samples. No sample names one that nobody waits for: it is none, not unseen."""
    observations = measured.observations
    before = f"{BAND}.{server}."
    # Older runs have no column of their own for row locks: these were looked at whenever the others were.
    of_rows = column.startswith((before + _ROW, before + _TABLE)) and before + ALL_ROW_LOCKS in observations.columns
    looked = observations.columns[before + (ALL_ROW_LOCKS if of_rows else ALL_LOCKS)]
    within = observations.within(measured.begin_unix_s, measured.end_unix_s) & ~np.isnan(looked)
    return float(np.nan_to_num(observations.columns[column])[within].mean()) if within.any() else 0.0


def locks_seen(trial: Trial) -> Locks:
    """Return what was waited for most, and whether any server shows that."""
    columns = trial.observations.names(f"{BAND}.") if trial.observations else ()
    names = {column.split(".", 2)[2] for column in columns}
    refused = any(str(unseen.band).endswith((".lock", f".{ALL_ROW_LOCKS}")) for unseen in trial.facts.unseen)
    return Locks(
        locks_seen=ALL_LOCKS in names and not refused,
        latches_seen=not names.isdisjoint(ALL_LATCHES),
        waited_for=locks_of(trial)[:MOST_KEPT],
    )
