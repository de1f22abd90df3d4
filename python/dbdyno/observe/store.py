"""The band `store`, and the waits a store itself shows: asked of each server, on its own thread.

A server under load may take long to answer, or never do so, and nothing waits for it. A sample lacks what has not come
by then.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Protocol, TypeVar

from dbdyno.errors import DbdynoError
from dbdyno.observe.answering import AnsweringThread
from dbdyno.observe.procfs import NotSeen
from dbdyno.observe.waits import Counts, mean_of

WAITS_PER_S = 10.5
"""10 to 20 are wanted (docs/statistics.md, section 5), and now and then one is left out."""
WAITS_SHARE, LOCKS_SHARE = 0.01, 0.0025
"""Shares of one processor that a server may spend on all our queries, and on those about locks among them."""
WAITS_PAUSE_S, LOCKS_PAUSE_S = 0.5, 5.0
"""However dear an answer is, or far away its server: once a second, some samples would see no waits at all."""
LAST = 20
"""By how many answers it is judged what one costs."""
RETRY_S = 1.0
ANSWER_S = 0.3
"""For how long a sample waits for a server's counters, so that they are of the same moment as the rest of it."""
OPEN_S, STOP_S = 5.0, 2.0
BUDGET = 0.005
"""Share of one processor for querying a server's waits; if that costs more, they are queried less often."""

_Answer = TypeVar("_Answer")


class Probe(Protocol):
    """A connection to one server, to look at it (`dbdyno.systems.probe`). All but `close` may raise DbdynoError.

    not_shown: what this user is not shown, band or column, and why; known once it was asked. answered_by: the server's
    thread or process that answers, by its kernel's number, if the server says that. round_trip_s: how long an answer
    takes for which nothing is to be done.
    """

    server: str
    answered_by: int | None
    round_trip_s: float

    @property
    def not_shown(self) -> Mapping[str, str]:
        """Columns that this user may not see, and why."""

    def open(self) -> None:
        """Connect, or connect anew."""

    def counters(self) -> Mapping[str, float]:
        """Return the server's own figures, by name."""

    def waits(self) -> tuple[Counts, Counts] | None:
        """Return how many connections are in each state, and how many wait for each lock; None: it does not show it."""

    def locks(self) -> Mapping[str, float]:
        """Return its figures of single locks, by name, which cost too much to read as often as `waits`."""

    def known_locks(self) -> Mapping[str, float] | None:
        """Return what `locks` would return, if the last counters tell that without asking; None: they do not."""

    def close(self) -> None:
        """Disconnect."""


class Spared:
    """When to ask a server again what costs it much. own_s: the processor time that asking took here.

    If nobody knows what answering costs, the shortest of the last few answers bounds it. The time of this
    thread meanwhile and of the way are subtracted. Longer ones have waited for a processor. way_s: how long that is.
    """

    def __init__(
        self, share: float, longest_pause_s: float, server_cpu_s: Callable[[], float | None] = lambda: None
    ) -> None:
        """Take which share of the time the answers may take, and how seldom they may come for that.

        server_cpu_s: for how long the thread that answers has computed so far, if that is known; whatever else it
        was asked meanwhile is in it.
        """
        self._share, self._longest_pause_s = share, longest_pause_s
        self._server_cpu_s = server_cpu_s
        self._computed_s: deque[float] = deque(maxlen=LAST + 1)
        self._lasted_s: deque[float] = deque(maxlen=LAST)
        self._again_at = 0.0
        self.own_s = self.way_s = 0.0

    @property
    def due(self) -> bool:
        """Return whether it may be asked now."""
        return time.monotonic() >= self._again_at

    def ask(self, question: Callable[[], _Answer]) -> _Answer:
        """Return the answer; nothing is learnt from a failure."""
        began, own_s = time.monotonic(), time.thread_time()
        if (server_s := self._server_cpu_s()) is not None:
            self._computed_s.append(server_s)
        answer = question()
        own_s = time.thread_time() - own_s
        self.own_s += own_s
        self._lasted_s.append(max(0.0, time.monotonic() - began - own_s))
        self._again_at = began + self.pause_s
        return answer

    @property
    def pause_s(self) -> float:
        """From one question to the next."""
        cost_s = max(0.0, min(self._lasted_s, default=0.0) - self.way_s)
        # With a pool of threads others answer; this one does not compute then.
        if len(self._computed_s) > 1 and self._computed_s[-1] > self._computed_s[0]:
            cost_s = (self._computed_s[-1] - self._computed_s[0]) / (len(self._computed_s) - 1)
        return min(self._longest_pause_s, cost_s / self._share)


class StoreWatch:
    """Queries one server's waits some times a second, and its counters on demand.

    shows_waits: whether it has answered what its connections wait for. waits_seen: how often so far. cpu_s: what asking
    took so far. round_trip_s: how long an answer took for which nothing is to be done, before the load; 0 if unknown.
    """

    def __init__(self, probe: Probe, not_seen: NotSeen, server_pid: int | None = None) -> None:
        """Connect and ask once; reports it if that cannot be done. Raises nothing.

        server_pid: the server, if it is a process of this host.
        """
        self.server = probe.server
        self.cpu_s = 0.0
        self._probe = probe
        self._lock = threading.Lock()
        self._opened, self._begun, self._stopping = threading.Event(), threading.Event(), threading.Event()
        self._asked: SimpleQueue[None] = SimpleQueue()
        self._answered = threading.Event()
        self._counters: dict[str, float] = {}
        self._waits: list[tuple[Counts, Counts]] = []
        self._answering = AnsweringThread(server_pid)
        self._spared_waits = Spared(WAITS_SHARE, WAITS_PAUSE_S, self._server_cpu_s)
        self._spared_locks = Spared(LOCKS_SHARE, LOCKS_PAUSE_S)
        self.shows_waits = False
        self.waits_seen = 0
        self.round_trip_s = 0.0
        self._refusal: str | None = f"{probe.server} did not answer within {OPEN_S:.0f} s"
        self._thread = threading.Thread(target=self._run, name=f"store-{probe.server}", daemon=True)
        self._thread.start()
        # Not every driver has a time-out for answers, so what waits for one is the thread, and this for the thread.
        self._opened.wait(OPEN_S)
        if self._refusal:
            not_seen[f"store.{self.server}"] = self._refusal
            self._stopping.set()
        else:
            not_seen.update(probe.not_shown)

    def start(self) -> None:
        """Begin to read waits; counters can be read at any time."""
        self._begun.set()

    def ask(self) -> None:
        """Have the counters asked for now; `take` gets them."""
        self._answered.clear()
        self._asked.put(None)

    def take(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the requested counters, those of locks too, and the mean of the waits since this was last
        asked for.

        Counters that have not come within ANSWER_S are not seen: later they would be of another moment.
        """
        if not self._stopping.is_set():
            self._answered.wait(ANSWER_S)
        with self._lock:
            counters, waits = self._counters, self._waits
            self._counters, self._waits = {}, []
        if not self._answered.is_set():
            counters = {}
        locks = mean_of(locks for _, locks in waits)
        counters |= {f"locks.{self.server}.{name}": value for name, value in locks.items()}
        return counters, mean_of(states for states, _ in waits)

    def stop(self) -> None:
        """Stop asking; a server that does not answer is left to answer into the void."""
        self._stopping.set()
        self._begun.set()
        self._asked.put(None)
        self._thread.join(STOP_S)

    def _run(self) -> None:
        try:
            self._open()
            self._begun.wait()
            self._ask_until_stopped()
        except DbdynoError as error:
            self._refusal = str(error)
        finally:
            self._opened.set()
            self._probe.close()
            self._answering.close()

    def _server_cpu_s(self) -> float | None:
        return self._answering.cpu_s(self._probe.answered_by)

    def _open(self) -> None:
        self._probe.open()
        self.round_trip_s = self._probe.round_trip_s
        self._spared_waits.way_s = self._spared_locks.way_s = self.round_trip_s
        self._probe.counters()
        self.shows_waits = self._probe.waits() is not None
        self._refusal = None
        self._opened.set()

    def _ask_until_stopped(self) -> None:
        began, begun_cpu_s = time.monotonic(), time.thread_time()
        next_waits = began
        while not self._stopping.is_set():
            # A store without waits is queried only on demand.
            counters_due = self._told(max(0.0, next_waits - time.monotonic()) if self.shows_waits else None)
            if self._stopping.is_set():
                break
            if counters_due:
                self._try(self._ask_counters)
            else:
                if self._spared_waits.own_s <= BUDGET * (time.monotonic() - began):
                    self._try(self._ask_waits)
                # A late sample is left out, not caught up with.
                next_waits = max(next_waits + max(1 / WAITS_PER_S, self._spared_waits.pause_s), time.monotonic())
            self.cpu_s = time.thread_time() - begun_cpu_s

    def _told(self, timeout_s: float | None) -> bool:
        """Wait until counters are requested, once or several times; to wake by an event costs more."""
        try:
            self._asked.get(timeout=timeout_s)
        except Empty:
            return False
        with suppress(Empty):
            while True:
                self._asked.get_nowait()
        return True

    def _try(self, ask: Callable[[], None]) -> None:
        """Ask; after a failure connect anew: it may come back, and stores that stall are what one wants to see."""
        try:
            ask()
        except DbdynoError:
            self._probe.close()
            while not self._stopping.wait(RETRY_S):
                with suppress(DbdynoError):
                    self._probe.open()
                    return

    def _ask_counters(self) -> None:
        counters = {f"store.{self.server}.{name}": value for name, value in self._probe.counters().items()}
        locks = self._probe.known_locks()
        if locks is None and self._spared_locks.due:
            locks = self._spared_locks.ask(self._probe.locks)
        counters |= {f"locks.{self.server}.{name}": value for name, value in (locks or {}).items()}
        with self._lock:
            self._counters = counters
        self._answered.set()

    def _ask_waits(self) -> None:
        waits = self._spared_waits.ask(self._probe.waits)
        if waits is None:
            return
        self.waits_seen += 1
        with self._lock:
            self._waits.append(waits)
