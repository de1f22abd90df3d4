"""Events that clients note as they happen, sorted into seconds by their process.

A client's thread appends to a deque, which takes no lock of ours; the process's main thread empties it and counts. So
the counting is not in the load threads' CPU time, nor between a client's two requests.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from dbdyno.contract import ErrorKind
from dbdyno.load_python.histogram import Histogram
from dbdyno.load_python.interval import Counted, Interval

SECOND_NS = 1_000_000_000
GRACE_NS = 250_000_000
"""How long after its end a second is handed over: a thread that was about to note something down may wait that long for
the interpreter. Later events count in the next second."""


class Completed(NamedTuple):
    """An operation, or with step -1 a transaction, completed within the run. is_hit: whether a cache had its row."""

    step: int
    begun_ns: int
    ended_ns: int
    verified: bool
    is_hit: bool | None = None


class Failed(NamedTuple):
    """A transaction (step -1), an operation, or connecting (step -2) failed within the run, and why."""

    step: int
    ended_ns: int
    kind: ErrorKind


TRANSACTION, CONNECTING = -1, -2


@dataclass
class _Second:
    """One second's events: times in ns by step, the transactions' last."""

    times: list[list[int]]
    failed: list[int]
    errors: list[ErrorKind] = field(default_factory=list)
    verified: int = 0
    counters: Counter[str] = field(default_factory=Counter)


class Recorder:
    """Makes intervals of events.

    cpu_s: the load threads' CPU time so far. connected: how many clients are.
    """

    def __init__(self, steps: int, cpu_s: Callable[[], float], connected: Callable[[], int]) -> None:
        self.events: deque[Completed | Failed] = deque()
        self._steps = steps
        self._cpu_s, self._connected = cpu_s, connected
        self._start_ns = 0
        self._seconds: dict[int, _Second] = {}
        self._marks: list[tuple[float, int]] = []
        self._next = 0

    def begin(self, start_ns: int) -> None:
        """Take `start_ns`, on the monotonic clock, for the beginning of second 0."""
        self._start_ns = start_ns
        self._cpu_before_s = self._cpu_s()

    def next_mark_ns(self) -> int:
        """Return when the second that is going on ends."""
        return self._start_ns + (len(self._marks) + 1) * SECOND_NS

    def advance(self, now_ns: int, end_ns: int) -> Iterator[Interval]:
        """Sort what has come, and yield the whole seconds before `end_ns` that are over and can be handed over."""
        self._drain()
        while self.next_mark_ns() <= min(now_ns, end_ns):
            self._mark()
        while self._next < len(self._marks) and self._start_ns + (self._next + 1) * SECOND_NS + GRACE_NS <= now_ns:
            yield self._hand_over(1.0)

    def finish(self, end_ns: int) -> Iterator[Interval]:
        """Yield what is left of a run that ended at `end_ns`; a last second that was cut short with its length."""
        self._drain()
        whole, rest_ns = divmod(max(0, end_ns - self._start_ns), SECOND_NS)
        last = whole if rest_ns else whole - 1
        # A client that learned of the end a moment late may have completed something after it.
        for late in [second for second in self._seconds if second > last]:
            self._merge(self._seconds.pop(late), last)
        while self._next <= last:
            if self._next == len(self._marks):
                self._mark()
            yield self._hand_over(1.0 if self._next < whole else rest_ns / SECOND_NS)

    def _mark(self) -> None:
        self._marks.append((self._cpu_s(), self._connected()))

    def _second(self, number: int) -> _Second:
        second = self._seconds.get(number)
        if second is None:
            kinds = self._steps + 1
            second = self._seconds[number] = _Second([[] for _ in range(kinds)], [0] * kinds)
        return second

    def _merge(self, late: _Second, number: int) -> None:
        second = self._second(number)
        for mine, others in zip(second.times, late.times, strict=True):
            mine.extend(others)
        second.failed = [mine + others for mine, others in zip(second.failed, late.failed, strict=True)]
        second.errors += late.errors
        second.verified += late.verified
        second.counters.update(late.counters)

    def _drain(self) -> None:
        while self.events:
            event = self.events.popleft()
            second = self._second(max((event.ended_ns - self._start_ns) // SECOND_NS, self._next))
            if isinstance(event, Completed):
                second.times[event.step].append(event.ended_ns - event.begun_ns)
                second.verified += event.verified
                if event.is_hit is not None:
                    second.counters["cache_hits" if event.is_hit else "cache_misses"] += 1
            else:
                if event.step != CONNECTING:
                    second.failed[event.step] += 1
                if event.step != TRANSACTION:
                    second.errors.append(event.kind)

    def _hand_over(self, seconds: float) -> Interval:
        number = self._next
        events = self._second(number)
        del self._seconds[number]
        cpu_s, connected = self._marks[number]
        both = zip(events.failed, events.times, strict=True)
        counted = [Counted(failed, Histogram.of(times)) for failed, times in both]
        interval = Interval(number, seconds, counted[:-1], counted[-1], connected)
        interval.errors.update(events.errors)
        interval.counters.update(events.counters)
        interval.reads_verified, interval.mismatches = events.verified, events.errors.count("mismatch")
        interval.client_cpu_s = cpu_s - self._cpu_before_s
        self._cpu_before_s = cpu_s
        self._next += 1
        return interval
