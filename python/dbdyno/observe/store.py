"""The band `store`, and the waits a store itself shows: asked of each server, on a thread of its own.

A server under load may take long to answer, or never do, so nothing waits for it: what has not come when a sample is
taken is not seen in that one.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Protocol

from dbdyno.errors import DbdynoError
from dbdyno.observe.procfs import NotSeen
from dbdyno.observe.waits import Counts, mean_of

WAITS_PER_S = 10
WAITS_SHARE, LOCKS_SHARE = 0.005, 0.0025
"""Of one processor, for a server to answer what its connections wait for, and which locks. Counters take the rest of
the hundredth that observing may cost it."""
WAITS_PAUSE_S, LOCKS_PAUSE_S = 1.0, 5.0
"""However dear an answer is: asked for less often, it would be seen too seldom in a short trial."""
LAST = 10
"""Of how many answers the shortest is taken for what one costs."""
RETRY_S = 1.0
ANSWER_S = 0.3
"""For how long a sample waits for a server's counters, so that they are of the same moment as the rest of it."""
OPEN_S, STOP_S = 5.0, 2.0
BUDGET = 0.004
"""Of one processor, for asking a server for its waits; where that costs more, they are asked for less often."""


class Probe(Protocol):
    """A connection to one server, to look at it (`dbdyno.systems.probe`). All but `close` may raise DbdynoError.

    not_shown: what this user is not shown, band or column, and why; known once it was asked.
    """

    server: str
    not_shown: Mapping[str, str]

    def open(self) -> None:
        """Connect, or connect anew."""

    def counters(self) -> Mapping[str, float]:
        """Return the server's own figures, by name."""

    def waits(self) -> tuple[Counts, Counts] | None:
        """Return how many connections are in each state, and how many wait for each lock; None: it does not show it."""

    def locks(self) -> Mapping[str, float]:
        """Return what it shows of single locks that is too dear to be asked for as often as `waits`, by their names."""

    def close(self) -> None:
        """Disconnect."""


class Spared:
    """When to ask a server again what costs it much.

    What an answer costs is not told; it is at most as long as the shortest of the last few took, less what this thread
    did meanwhile. Longer ones have waited for a processor.
    """

    def __init__(self, share: float, longest_pause_s: float) -> None:
        """Take which share of the time the answers may take, and how seldom they may come for that."""
        self._share, self._longest_pause_s = share, longest_pause_s
        self._lasted_s: deque[float] = deque(maxlen=LAST)
        self._again_at = 0.0

    @property
    def due(self) -> bool:
        """Whether it may be asked now."""
        return time.monotonic() >= self._again_at

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask meanwhile; nothing is learnt from a failure."""
        began, own_s = time.monotonic(), time.thread_time()
        yield
        self._lasted_s.append(max(0.0, time.monotonic() - began - (time.thread_time() - own_s)))
        self._again_at = began + self.pause_s

    @property
    def pause_s(self) -> float:
        """From one question to the next."""
        return min(self._longest_pause_s, min(self._lasted_s, default=0.0) / self._share)


class StoreWatch:
    """Asks one server for its waits some times a second, and for its counters when it is told to.

    shows_waits: whether it has answered what its connections wait for. cpu_s: what asking took so far.
    """

    def __init__(self, probe: Probe, not_seen: NotSeen) -> None:
        """Connect and ask once; says so where that cannot be done. Raises nothing."""
        self.server = probe.server
        self.cpu_s = 0.0
        self._probe = probe
        self._lock = threading.Lock()
        self._opened, self._begun, self._stopping = threading.Event(), threading.Event(), threading.Event()
        self._asked, self._answered = threading.Event(), threading.Event()
        self._counters: dict[str, float] = {}
        self._waits: list[tuple[Counts, Counts]] = []
        self._spared_waits = Spared(WAITS_SHARE, WAITS_PAUSE_S)
        self._spared_locks = Spared(LOCKS_SHARE, LOCKS_PAUSE_S)
        self.shows_waits = False
        self._waits_cpu_s = 0.0
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
        """Begin to ask for waits; counters can be asked for at any time."""
        self._begun.set()

    def ask(self) -> None:
        """Have the counters asked for now; `take` gets them."""
        self._answered.clear()
        self._asked.set()

    def take(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the counters that were asked for, those of locks too, and the mean of the waits since this was last
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
        for event in (self._stopping, self._begun, self._asked):
            event.set()
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

    def _open(self) -> None:
        self._probe.open()
        self._probe.counters()
        self.shows_waits = self._probe.waits() is not None
        self._refusal = None
        self._opened.set()

    def _ask_until_stopped(self) -> None:
        began, begun_cpu_s = time.monotonic(), time.thread_time()
        next_waits = began
        while not self._stopping.is_set():
            # Where there are no waits to ask for it sleeps until it is told.
            told = self._asked.wait(max(0.0, next_waits - time.monotonic()) if self.shows_waits else None)
            if self._stopping.is_set():
                break
            if told:
                self._asked.clear()
                self._try(self._ask_counters)
            else:
                if self._waits_cpu_s <= BUDGET * (time.monotonic() - began):
                    self._try(self._ask_waits)
                next_waits = time.monotonic() + max(1 / WAITS_PER_S, self._spared_waits.pause_s)
            self.cpu_s = time.thread_time() - begun_cpu_s

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
        if self._spared_locks.due:
            with self._spared_locks.asking():
                locks = self._probe.locks()
            counters |= {f"locks.{self.server}.{name}": value for name, value in locks.items()}
        with self._lock:
            self._counters = counters
        self._answered.set()

    def _ask_waits(self) -> None:
        begun_cpu_s = time.thread_time()
        with self._spared_waits.asking():
            waits = self._probe.waits()
        self._waits_cpu_s += time.thread_time() - begun_cpu_s
        if waits is None:
            return
        with self._lock:
            self._waits.append(waits)
