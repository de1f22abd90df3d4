"""A client: one session with the store, its transactions timed, verified and noted down, and opened anew when lost."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from dbdyno.load_python.choices import Choices, mix
from dbdyno.load_python.column import Value
from dbdyno.load_python.events import CONNECTING, TRANSACTION, Completed, Failed
from dbdyno.load_python.failure import Failure, not_understood
from dbdyno.load_python.interval import Totals
from dbdyno.load_python.records import Example
from dbdyno.load_python.session import Session
from dbdyno.load_python.table import Row
from dbdyno.load_python.workloads import Workload

FIRST_BACK_OFF_S = 0.01
LAST_BACK_OFF_S = 1.0
EXAMPLES = 5
"""How many errors of a kind, and how many mismatches, are kept word for word."""
FOREVER_NS = 1 << 63


@dataclass
class Trial:
    """The state that the clients of one process share.

    open: a session, which raises Failure. show: takes records of errors and mismatches.
    start_ns, end_ns: of the run, on the monotonic clock; `started` is set once they are known.
    """

    workload: Workload
    open: Callable[[], Session]
    seed: int
    clients: int
    timeout_s: float
    verify_reads: bool
    events: deque[Completed | Failed]
    show: Callable[[Example], None]
    started: Event = field(default_factory=Event)
    start_ns: int = 0
    end_ns: int = FOREVER_NS
    examples_shown: dict[str, int] = field(default_factory=dict)

    def show_failure(self, failure: Failure, operation: str | None, client: int, at_ns: int) -> None:
        """Show a failure, if it is one of the first few of its kind."""
        if self._is_early(failure.kind):
            self.show(
                {
                    "record": "error",
                    "kind": failure.kind,
                    "operation": operation,
                    "client": client,
                    "at_s": self._at_s(at_ns),
                    "message": failure.message,
                }
            )

    def show_mismatch(self, operation: str, key: int, difference: Any, at_ns: int) -> None:
        """Show how a row differs, if it is one of the first few that do."""
        if self._is_early("a row"):
            self.show(
                {
                    "record": "mismatch",
                    "operation": operation,
                    "key": key,
                    "column": difference.column,
                    "expected": difference.expected,
                    "found": difference.actual,
                    "at_s": self._at_s(at_ns),
                }
            )

    def _is_early(self, kind: str) -> bool:
        self.examples_shown[kind] = self.examples_shown.get(kind, 0) + 1
        return self.examples_shown[kind] <= EXAMPLES

    def _at_s(self, at_ns: int) -> float:
        return max(0, at_ns - self.start_ns) / 1e9 if self.started.is_set() else 0.0


class Client:
    """Client `number` of a trial; the logical operations as its workload issues them."""

    def __init__(self, trial: Trial, number: int) -> None:
        self.trial = trial
        self.number = number
        self.session: Session | None = None
        self.totals = Totals.of(len(trial.workload.steps))
        self._begun_ns: int | None = None
        self.asking_since_ns: int | None = None
        """Since when it waits for the library; None: it does not."""

    def connect(self) -> None:
        """Open the session; raises Failure."""
        self.asking_since_ns = time.monotonic_ns()
        try:
            self.session = self.trial.open()
        except Failure:
            raise
        except Exception as error:  # Whatever a library raises on an answer it does not understand.
            raise Failure("connect", not_understood(error).message) from None
        finally:
            self.asking_since_ns = None

    def live(self) -> None:
        """Run transactions from the run's start to its end, then close the session."""
        trial = self.trial
        trial.started.wait()
        time.sleep(max(0, trial.start_ns - time.monotonic_ns()) / 1e9)
        step, now_ns = 0, time.monotonic_ns()
        while now_ns < trial.end_ns:
            if self.session is None:
                if not self._reconnect():
                    break
                now_ns = time.monotonic_ns()
            now_ns = self.transaction(step, now_ns)
            step += 1
        if self.session is not None:
            self.session.close()

    def transaction(self, step: int, begun_ns: int) -> int:
        """Run one transaction that began at `begun_ns`, and return when it ended."""
        trial, totals = self.trial, self.totals
        totals.scheduled += 1
        self._begun_ns = begun_ns
        key = trial.workload.key(Choices(trial.seed, self.number, trial.clients, step))
        try:
            trial.workload.run(self, key)
            failure = None
        except Failure as failed:
            failure = failed
        ended_ns = time.monotonic_ns()
        totals.in_flight_ns += max(0, min(ended_ns, trial.end_ns) - begun_ns)
        if ended_ns > trial.end_ns:
            return ended_ns
        if failure is None:
            totals.completed += 1
            trial.events.append(Completed(TRANSACTION, begun_ns, ended_ns, False))
        else:
            totals.failed += 1
            trial.events.append(Failed(TRANSACTION, ended_ns, failure.kind))
        return ended_ns

    def _reconnect(self) -> bool:
        """Try again and again, ever more slowly; False when the run is over."""
        trial, wait_s = self.trial, FIRST_BACK_OFF_S
        # Clients that were cut off together do not come back together.
        spread = 0.5 + mix(self.number) % 1024 / 2048
        while True:
            time.sleep(wait_s * spread)
            if time.monotonic_ns() >= trial.end_ns:
                return False
            try:
                self.connect()
                return True
            except Failure as failure:
                now_ns = time.monotonic_ns()
                trial.show_failure(failure, None, self.number, now_ns)
                if now_ns <= trial.end_ns:
                    trial.events.append(Failed(CONNECTING, now_ns, failure.kind))
                wait_s = min(2 * wait_s, LAST_BACK_OFF_S)

    def get(self, step: int, key: int) -> Row:
        """Read the row with this primary key; raises Failure."""
        return self._read(step, key, "get", key)

    def find(self, step: int, value: Value, key: int) -> Row:
        """Read the one row with this value in the step's column, which must be row `key`; raises Failure."""
        return self._read(step, key, "find", value)

    def update(self, step: int, key: int, version: int) -> None:
        """Write version `version` of row `key`; raises Failure."""
        begun_ns, done = self._ask(step, "update", key, version)
        self._complete(step, key, begun_ns, done)

    def add(self, step: int, key: int, delta: int) -> None:
        """Add to the step's column of row `key`; raises Failure."""
        totals = self.totals
        try:
            begun_ns, done = self._ask(step, "add", key, delta)
        except Failure as failure:
            totals.maybe_added += delta if failure.ends_session else 0
            raise
        totals.added += delta if done else 0
        self._complete(step, key, begun_ns, done)

    def _read(self, step: int, key: int, operation: str, value: Value) -> Row:
        row: Row
        begun_ns, row = self._ask(step, operation, value)
        ended_ns = time.monotonic_ns()
        verify = self.trial.verify_reads and row is not None
        if verify and (difference := self.trial.workload.steps[step].table.check(row, key)):
            self.trial.show_mismatch(self.trial.workload.steps[step].name, key, difference, ended_ns)
            what = f"row {key}, {difference.column}: expected {difference.expected}, found {difference.actual}"
            raise self._fail(step, Failure("mismatch", what), ended_ns)
        is_hit = self.session.is_hit if self.session else None
        self._complete(step, key, begun_ns, row is not None, verify, ended_ns, is_hit)
        return row

    def _ask(self, step: int, operation: str, *values: Value) -> tuple[int, Any]:
        """Have the session do one operation; return when it began and what it returned."""
        begun_ns = self._begun_ns or time.monotonic_ns()
        self._begun_ns, self.asking_since_ns = None, begun_ns
        try:
            return begun_ns, getattr(self.session, operation)(step, *values)
        except Failure as failure:
            failed = failure
        except Exception as error:  # Whatever a library raises on an answer it does not understand.
            failed = not_understood(error)
        finally:
            self.asking_since_ns = None
        ended_ns = time.monotonic_ns()
        if failed.kind == "connection" and ended_ns - begun_ns >= self.trial.timeout_s * 1e9:
            # Some libraries say of a time-out only that the connection was lost.
            failed = Failure("timeout", failed.message)
        raise self._fail(step, failed, ended_ns)

    def _complete(
        self,
        step: int,
        key: int,
        begun_ns: int,
        is_there: bool,
        verified: bool = False,
        ended_ns: int = 0,
        is_hit: bool | None = None,
    ) -> None:
        ended_ns = ended_ns or time.monotonic_ns()
        if not is_there:
            raise self._fail(step, Failure("missing", f"row {key}"), ended_ns)
        if ended_ns <= self.trial.end_ns:
            self.totals.operations[step][0] += 1
            self.totals.reads_verified += verified
            self.trial.events.append(Completed(step, begun_ns, ended_ns, verified, is_hit))

    def _fail(self, step: int, failure: Failure, ended_ns: int) -> Failure:
        """Note a failed operation down, and drop the session if it can be used no more."""
        trial = self.trial
        trial.show_failure(failure, trial.workload.steps[step].name, self.number, ended_ns)
        if ended_ns <= trial.end_ns:
            self.totals.operations[step][1] += 1
            self.totals.mismatches += failure.kind == "mismatch"
            trial.events.append(Failed(step, ended_ns, failure.kind))
        elif failure.ends_session:
            self.totals.unanswered += 1
        if failure.ends_session and self.session is not None:
            self.session.close()
            self.session = None
        return failure
