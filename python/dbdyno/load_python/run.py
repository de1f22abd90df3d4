"""The run phase: processes with their clients, and the merging of what they record."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import cast

from dbdyno.contract import TotalRecord
from dbdyno.load_python.bounds import limit_memory
from dbdyno.load_python.events import SECOND_NS
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.interval import Interval, Totals
from dbdyno.load_python.plan import Plan
from dbdyno.load_python.records import Records
from dbdyno.load_python.session import Session
from dbdyno.load_python.signals import stop_requested
from dbdyno.load_python.worker import Worker, fork, processes_for
from dbdyno.load_python.workloads import Workload

POLL_S = 0.05
"""How often a signal is looked for."""
LEAD_NS = 200_000_000
"""How long before it begins the run is announced to every process."""
PROGRESS_S = 0.25


class Run:
    """One run of a plan's clients.

    totals: of all clients, with what came after the end: increments may have been acknowledged then.
    """

    def __init__(self, plan: Plan, workload: Workload, open_session: Callable[[], Session], records: Records) -> None:
        self._plan, self._workload, self._records = plan, workload, records
        self._names = [step.name for step in workload.steps]
        self._pending: dict[int, list[Interval]] = {}
        self._sum, self._seconds = Totals.of(len(self._names)), 0.0
        self.totals = Totals.of(len(self._names))
        self._heard: Counter[str] = Counter()
        self._refusal = ""
        self._pids: list[int] = []
        self._pipes = [self._start(numbers, open_session) for numbers in _slices(plan)]
        self._processes = len(self._pipes)

    def _start(self, numbers: range, open_session: Callable[[], Session]) -> Connection:
        mine, theirs = Pipe()
        worker = Worker(self._plan, self._workload, open_session, numbers, theirs)

        def work() -> None:
            limit_memory(processes_for(self._plan), len(numbers))
            worker.work()

        self._pids.append(fork(work))
        theirs.close()
        return mine

    def execute(self) -> None:
        """Run from connecting to the last answer, and write what was recorded.

        Raises Ended if the run did not take place, or does not add up; one cut short by a signal is no error.
        """
        if not self._connect():
            return
        wait_ns = max(LEAD_NS, self._wait_ns())
        start_ns = time.monotonic_ns() + wait_ns
        at_unix_s = time.time() + wait_ns / SECOND_NS
        self._records.write({"record": "phase", "phase": "run", "state": "start", "at_unix_s": at_unix_s})
        end_ns = start_ns + (self._plan.warmup_s + self._plan.duration_s) * SECOND_NS
        self._send("start", start_ns, end_ns)
        stopped = False
        while self._heard["done"] < self._processes:
            self._hear()
            if stop_requested() and not stopped:
                stopped = True
                self._send("stop")
        for second in sorted(self._pending):
            self._write(self._pending[second])
        for pid in self._pids:
            os.waitpid(pid, 0)
        self._finish()

    def _wait_ns(self) -> int:
        at = self._plan.start_at_unix_s
        return 0 if at is None else max(0, int((at - time.time()) * SECOND_NS))

    def _connect(self) -> bool:
        """Wait until every client has connected; return False if a signal came first. Raises Ended if one cannot."""
        last_shown_s, total = time.monotonic(), self._plan.count
        while (arrived := self._heard["connected"] + self._heard["refused"]) < total:
            self._hear()
            if stop_requested():
                self._send("stop")
                return False
            if time.monotonic() - last_shown_s > PROGRESS_S:
                last_shown_s = time.monotonic()
                self._records.write(
                    {"record": "progress", "phase": "connect", "done": arrived, "total": total, "unit": "clients"}
                )
        if refused := self._heard["refused"]:
            raise Ended("failed", f"{refused} of {total} clients could not connect: {self._refusal}")
        return True

    def _send(self, *message: object) -> None:
        for pipe in self._pipes:
            pipe.send(message)

    def _hear(self) -> None:
        """Take what the processes say, waiting a moment for it; raises Ended if one of them is gone."""
        for pipe in cast(list[Connection], wait(self._pipes, POLL_S)):
            try:
                message = pipe.recv()
            except EOFError:
                raise Ended("failed", "a load process ended before its clients did: see the log") from None
            self._heard[message[0]] += 1
            match message:
                case ("stuck", reason):
                    raise Ended("failed", f"timeout: {reason}")
                case ("refused", reason):
                    self._refusal = self._refusal or reason
                case ("record", record):
                    self._records.write_example(record)
                case ("interval", interval):
                    self._add(interval)
                case ("done", totals):
                    self.totals.merge(totals)
                    self._pipes.remove(pipe)

    def _add(self, interval: Interval) -> None:
        parts = self._pending.setdefault(interval.second, [])
        parts.append(interval)
        if len(parts) == self._processes:
            del self._pending[interval.second]
            self._write(parts)

    def _write(self, parts: list[Interval]) -> None:
        merged, *others = parts
        for other in others:
            merged.merge(other)
        self._sum.add_interval(merged)
        self._seconds += merged.seconds
        self._records.write(merged.to_record(self._names, self._plan.warmup_s))

    def _finish(self) -> None:
        """Write the totals; raises Ended if they and the intervals do not add up (docs/contract.md, identities)."""
        totals = self.totals
        operations = zip(self._names, totals.operations, strict=True)
        total: TotalRecord = {
            "record": "total",
            "transactions": {
                "scheduled": totals.scheduled,
                "completed": totals.completed,
                "failed": totals.failed,
                "unfinished": totals.unfinished,
                "unanswered": totals.unanswered,
            },
            "operations": {name: {"completed": done, "failed": failed} for name, (done, failed) in operations},
            "reads_verified": totals.reads_verified,
            "mismatches": totals.mismatches,
            "seconds": self._seconds,
            "in_flight_mean": totals.in_flight_ns / 1e9 / self._seconds if self._seconds else 0.0,
        }
        self._records.write(total)
        if _counted(self._sum) != _counted(totals):
            raise Ended("failed", f"the sum of the intervals differs from the totals: {self._sum}, {totals}: a bug")
        if not 0 <= totals.unfinished <= self._plan.count:
            reason = f"{totals.unfinished} transactions are unfinished, of {self._plan.count} clients: a bug"
            raise Ended("failed", reason)


def _counted(totals: Totals) -> tuple[int | list[list[int]], ...]:
    return totals.completed, totals.failed, totals.operations, totals.reads_verified, totals.mismatches


def _slices(plan: Plan) -> Iterator[range]:
    """Yield the numbers of the clients of each process."""
    processes = processes_for(plan)
    for index in range(processes):
        yield range(plan.first + index, plan.first + plan.count, processes)
