"""One process of the load client: a thread for each of its clients, and a main thread that counts for them.

Messages to the parent are tuples: ("connected",), ("refused", message), ("stuck", message), ("record", record),
("interval", Interval) and last ("done", Totals). Messages from it: ("start", start_ns, end_ns) and ("stop",).
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

from dbdyno.load_python.bounds import is_stuck, words
from dbdyno.load_python.client import Client, Trial
from dbdyno.load_python.events import Recorder
from dbdyno.load_python.failure import Failure
from dbdyno.load_python.host import die_with_parent, processors
from dbdyno.load_python.interval import Totals
from dbdyno.load_python.plan import Plan
from dbdyno.load_python.records import Example
from dbdyno.load_python.session import Session
from dbdyno.load_python.workloads import Workload

TICK_S = 0.05
"""How often what the clients noted down is counted: seldom enough to cost nothing, often enough to be no burst."""
PROCESSES_PER_PROCESSOR = 4


def processes_for(plan: Plan) -> int:
    """Return how many processes the clients of a plan share.

    One interpreter uses one processor, and its threads wait for each other after every answer. With 16 clients of
    PyMySQL on two processors, 2 processes did 1,640 transactions of the game a second, 4 did 1,860 and 8 did 2,240.
    """
    return min(plan.processes or PROCESSES_PER_PROCESSOR * processors(), plan.count)


def fork(work: Callable[[], None]) -> int:
    """Have a new process do `work`, and return its pid.

    It ends with this one, however that ends, and leaves signals to it: a terminal's Ctrl-C reaches both.
    """
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    status = 1
    try:
        die_with_parent(signal.SIGKILL)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        work()
        status = 0
    except EOFError:
        print("dbdyno-load-python: a worker ends, as the process it works for is gone", file=sys.stderr, flush=True)
    except BaseException as error:
        print(f"dbdyno-load-python: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        # Not sys.exit: this process has the parent's stack, and must not return into it.
        os._exit(status)


class Worker:
    """The clients of one process, from connecting to the last answer; numbers: of its clients."""

    def __init__(
        self, plan: Plan, workload: Workload, open_session: Callable[[], Session], numbers: range, parent: Connection
    ) -> None:
        self._parent = parent
        self._records: deque[Example] = deque()
        steps = len(workload.steps)
        self._recorder = Recorder(steps, load_cpu_s, self._connected)
        self._trial = Trial(
            workload,
            open_session,
            plan.seed,
            plan.of,
            plan.operation_timeout_s,
            plan.verify_reads,
            self._recorder.events,
            self._records.append,
        )
        self._clients = [Client(self._trial, number) for number in numbers]
        self._came: deque[tuple[Any, ...]] = deque()

    def _connected(self) -> int:
        return sum(client.session is not None for client in self._clients)

    def work(self) -> None:
        """Connect, wait for the start, run, and tell the parent everything; raises EOFError if the parent is gone."""
        threads = [Thread(target=self._live, args=(client,), daemon=True) for client in self._clients]
        for thread in threads:
            thread.start()
        while not self._trial.started.is_set():
            self._look_for_stuck()
            self._tell()
            self._listen(TICK_S)
        while any(thread.is_alive() for thread in threads):
            self._listen(self._until_next())
            self._hand_over()
        self._hand_over()
        for interval in self._recorder.finish(self._trial.end_ns):
            self._parent.send(("interval", interval))
        totals = Totals.of(len(self._trial.workload.steps))
        for client in self._clients:
            totals.merge(client.totals)
        self._tell()
        self._parent.send(("done", totals))

    def _live(self, client: Client) -> None:
        try:
            client.connect()
        except Failure as failure:
            self._trial.show_failure(failure, None, client.number, 0)
            self._came.append(("refused", failure.message))
            return
        self._came.append(("connected",))
        client.live()

    def _listen(self, timeout_s: float) -> None:
        """Wait for what the parent says, not longer than `timeout_s`."""
        trial = self._trial
        if not self._parent.poll(timeout_s):
            return
        match self._parent.recv():
            case ("start", start_ns, end_ns):
                trial.start_ns, trial.end_ns = start_ns, end_ns
                self._recorder.begin(start_ns)
                trial.started.set()
            case ("stop",):
                # Before the start no time is one of the run: it has ended before it began.
                trial.end_ns = min(trial.end_ns, time.monotonic_ns()) if trial.started.is_set() else 0
                trial.started.set()

    def _until_next(self) -> float:
        """Return how long to wait: a tick, or until the second ends, so that its CPU time is read just then."""
        return max(0.0, min(TICK_S, (self._recorder.next_mark_ns() - time.monotonic_ns()) / 1e9))

    def _look_for_stuck(self) -> None:
        """Tell the parent of a client whose operation does not end; it then ends all of this."""
        for client in self._clients:
            if is_stuck(client.asking_since_ns, self._trial.timeout_s):
                self._parent.send(("stuck", f"client {client.number}: {words(self._trial.timeout_s)}"))
                self._parent.recv()

    def _hand_over(self) -> None:
        self._look_for_stuck()
        for interval in self._recorder.advance(time.monotonic_ns(), self._trial.end_ns):
            self._parent.send(("interval", interval))
        self._tell()

    def _tell(self) -> None:
        """Pass on what the clients' threads had to say: only this thread speaks to the parent."""
        while self._came:
            self._parent.send(self._came.popleft())
        while self._records:
            self._parent.send(("record", self._records.popleft()))


def load_cpu_s() -> float:
    """Return the user and system time of this process without that of the calling thread: of the clients' threads."""
    return time.process_time() - time.thread_time()
