"""The lag of replicas while a load runs on their primary, and how long they take to catch up after it.

Several times a second it asks the primary for its position, and then the replica until that has applied it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import numpy as np

from dbdyno.conduct.context import Context
from dbdyno.contract import Record
from dbdyno.errors import RunFailed
from dbdyno.results.json_types import LagStated
from dbdyno.results.write import Lines
from dbdyno.systems.base import System
from dbdyno.systems.follower import Follower

LAG_FILE = "lag.jsonl"
EVERY_S = 0.25
"""From the begin of one look at a replica to that of the next, unless the replica takes longer."""
CATCH_UP_S = 300.0
"""A replica that is later than this after the load is left behind."""
_FIRST_S, _GROWTH, _LONGEST_S = 0.0005, 1.3, 0.05
"""Pauses between questions: each is longer than the one before, so a lag is known to a third of itself."""


class ReplicaLag:
    """Looks at each replica of a system during one trial; a context manager around its load, whose records it takes."""

    def __init__(self, context: Context, system: System, folder: Path, death: Callable[[], str | None]) -> None:
        """Take the running system and the trial's folder; nothing is looked at if the experiment observes nothing.

        death: says how a server ended for good, or None.
        """
        followers = system.followers() if context.experiment.observe else []
        self._looks = [_Look(follower, context, death) for follower in followers]
        self._folder, self._warmup_s = folder, context.experiment.warmup_seconds
        self._interrupts = context.interrupts

    def __enter__(self) -> ReplicaLag:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wait until all have caught up, and write the samples; raises OSError if that cannot be done."""
        with self._interrupts.noted():
            for look in self._looks:
                look.end()
        if any(look.samples for look in self._looks):
            lines = Lines(self._folder / LAG_FILE)
            for look in self._looks:
                for at_unix_s, lag_s in look.samples:
                    lines.append_object({"replica": look.name, "at_unix_s": at_unix_s, "lag_s": lag_s})
            lines.close()

    def record_came(self, record: Record) -> None:
        """Begin with the run's first second, and look for the last time when it has ended."""
        if record["record"] != "phase" or record["phase"] != "run":
            return
        for look in self._looks:
            if record["state"] == "end":
                look.load_ended()
            else:
                # The first second begins anew when all clients are connected.
                look.begin(record.get("at_unix_s") or time.time())

    def documents(self) -> list[LagStated] | None:
        """Return what `trial.json` says of each replica; None if there is none."""
        return [look.document(self._warmup_s) for look in self._looks] or None


class _Look:
    """One replica. samples: when the primary had a position (s since the epoch), and how long until it was applied."""

    def __init__(self, follower: Follower, context: Context, death: Callable[[], str | None]) -> None:
        self.name = follower.name
        self.samples: list[tuple[float, float]] = []
        self._follower, self._interrupts, self._death = follower, context.interrupts, death
        self._began_unix_s = 0.0
        self._thread: threading.Thread | None = None
        self._ended, self._given_up = threading.Event(), threading.Event()
        self._ended_s = 0.0
        self._caught_up_s: float | None = None
        self._problem: str | None = None

    def begin(self, at_unix_s: float) -> None:
        """Look from now on; the load begins at that time."""
        self._began_unix_s = at_unix_s
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"lag-{self.name}", daemon=True)
            self._thread.start()

    def load_ended(self) -> None:
        """Look for the last time."""
        self._ended_s = time.monotonic()
        self._ended.set()

    def end(self) -> None:
        """Wait for the last look; without an end of the load there is none."""
        if not self._ended.is_set():
            self._given_up.set()
            self._ended.set()
        if self._thread:
            self._thread.join()

    def document(self, warmup_s: float) -> LagStated:
        """Return the figures, without those samples whose position is of the warm-up."""
        measured = [lag_s for at_unix_s, lag_s in self.samples if at_unix_s >= self._began_unix_s + warmup_s]
        p50, p95, most = np.percentile(measured, (50, 95, 100)).tolist() if measured else (None, None, None)
        return {
            "replica": self.name,
            "samples": len(measured),
            "p50_s": p50,
            "p95_s": p95,
            "max_s": most,
            "caught_up_s": self._caught_up_s,
            "problem": self._problem,
        }

    def _run(self) -> None:
        while not self._is_left():
            is_last, began_s = self._ended.is_set(), time.monotonic()
            try:
                lag_s = self._lag_s()
            except RunFailed as failed:
                self._problem, lag_s = str(failed), None
                if self._death():
                    return
            if lag_s is not None:
                self._problem = None
                self.samples.append((round(time.time() - lag_s, 3), round(lag_s, 6)))
            if is_last and lag_s is not None:
                self._caught_up_s = round(time.monotonic() - self._ended_s, 6)
                return
            self._ended.wait(max(0.0, began_s + EVERY_S - time.monotonic()))

    def _is_left(self) -> bool:
        """Return whether nothing more is to be seen: the trial failed, a person ended it, or it takes too long."""
        is_late = self._ended.is_set() and time.monotonic() - self._ended_s > CATCH_UP_S
        if is_late and not self._given_up.is_set():
            self._problem = f"it had not caught up {CATCH_UP_S:.0f} s after the load"
        return is_late or self._given_up.is_set() or self._interrupts.requested

    def _lag_s(self) -> float | None:
        """Return how long the replica took to apply what the primary has now; None if nobody waits for it any more."""
        with self._follower.connected():
            began_s, pause_s = time.monotonic(), _FIRST_S
            position = self._follower.position()
            while not self._follower.has(position):
                if self._is_left():
                    return None
                time.sleep(pause_s)
                pause_s = min(pause_s * _GROWTH, _LONGEST_S)
            return time.monotonic() - began_s
