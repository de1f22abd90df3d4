"""Ends a load client that has no server any more, or that does not come to its end by itself."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.plan import Plan
from dbdyno.contract import Record
from dbdyno.leftovers.processes import is_stopped

POLL_S = 0.25
"""How often it is looked at: a trial whose server has died ends within two seconds."""
FINISH_S = 1.0
"""Time that a load client whose server has died is given to write what it recorded."""
STOPPED_S = 10.0
"""Time that a load client may stand stopped by a signal."""
GRACE_S = 60.0
"""Time that a load client is given beyond that of its plan, for what it must still wait for."""


class Watchdog:
    """Watches one load client; given_up: why it was ended, None as long as it was not."""

    def __init__(self, pid: int, plan: Plan, interrupts: Interrupts, death: Callable[[], str | None] | None) -> None:
        """Take the process that leads its group, its plan, and what says how a server ended that should be running."""
        self._pid, self._plan, self._interrupts, self._death = pid, plan, interrupts, death
        self._began = time.monotonic()
        # The user's own may never say anything; one of dbdyno's may load for hours before it runs.
        self._deadline = self._began + GRACE_S if plan.program else None
        self._due = "begin to run"
        self._stopped_since: float | None = None
        self.given_up: str | None = None

    def record_came(self, record: Record) -> None:
        """Take note of when the run phase begins and ends: how long that takes is known."""
        if record["record"] == "phase" and record["phase"] == "run":
            began = record["state"] == "begin"
            self._began, self._due = time.monotonic(), "end"
            self._deadline = self._began + self._time_s() + GRACE_S if began else None

    def _time_s(self) -> float:
        return self._plan.warmup_s + self._plan.duration_s + 2 * self._plan.operation_timeout_s

    def look(self) -> None:
        """Look at it, and end it if it must be ended."""
        now = time.monotonic()
        if self.given_up:
            if self._deadline is not None and now > self._deadline:
                self._kill()
        elif self._death and (death := self._death()):
            self.given_up, self._deadline = death, now + FINISH_S
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGINT)
        elif reason := self._is_stuck(now):
            self.given_up = reason
            self._kill()

    def _is_stuck(self, now: float) -> str | None:
        """Return why nothing is to be hoped for from it any more, or None."""
        self._stopped_since = (self._stopped_since or now) if is_stopped(self._pid) else None
        patience_s = FINISH_S if self._interrupts.requested else STOPPED_S
        if self._stopped_since and now - self._stopped_since > patience_s:
            return f"{self._plan.client} was stopped by a signal (SIGSTOP) for {patience_s:.0f} s and was given up"
        if self._deadline and now > self._deadline:
            return f"{self._plan.client} did not {self._due} within {now - self._began:.0f} s and was given up"
        # Without a deadline it still verifies, or removes rows: nobody knows how long that takes.
        if self._interrupts.requested and (self._deadline or self._plan.program):
            latest = now + 2 * self._plan.operation_timeout_s + STOPPED_S
            self._deadline = min(self._deadline or latest, latest)
        return None

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
