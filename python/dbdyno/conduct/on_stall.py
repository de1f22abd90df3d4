"""Stacks of a stall, recorded while it lasts (`--profile on-stall`).

Recording costs what it records about, so the seconds in which it runs are marked, and no figure has them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from dbdyno.conduct.context import Context
from dbdyno.conduct.profile import WINDOW_S, AnyWindow, not_recorded, open_window, per_transaction
from dbdyno.contract import IntervalRecord, Record
from dbdyno.experiment.model import LEAST_BEFORE_STALL_S, ON_STALL, STALL_S
from dbdyno.results.json_types import ProfiledStated
from dbdyno.results.model import WHOLE_SECOND
from dbdyno.results.profile import ProfileStated
from dbdyno.results.write import write_profile
from dbdyno.stats.histogram import Histogram
from dbdyno.systems.base import System

SLOW_SHARE = 0.5
"""Throughput stalls below this share of its median."""
P99_TIMES = 5.0
"""Times its median that p99 rises to in a stall."""


class StallWatch:
    """Compares each measured second of a trial with those before it."""

    def __init__(self) -> None:
        """Begin without any second."""
        self._rates_per_s: list[float] = []
        self._p99_ns: list[float | None] = []

    def reason(self, record: IntervalRecord) -> str | None:
        """Take the next second; return the sign that the store stalls, or `None`."""
        if record["warmup"] or record["seconds"] <= WHOLE_SECOND:
            return None
        self._rates_per_s.append(record["transactions"]["completed"] / record["seconds"])
        self._p99_ns.append(_p99_ns(record))
        return self._slow() or self._late()

    def _slow(self) -> str | None:
        before, last = self._rates_per_s[:-STALL_S], self._rates_per_s[-STALL_S:]
        if len(before) < LEAST_BEFORE_STALL_S or max(last) >= SLOW_SHARE * (usual := median(before)):
            return None
        return f"throughput fell to {last[-1]:,.0f}/s for {STALL_S} s, from a median of {usual:,.0f}/s"

    def _late(self) -> str | None:
        before = [p99_ns for p99_ns in self._p99_ns[:-STALL_S] if p99_ns is not None]
        last = [p99_ns or 0.0 for p99_ns in self._p99_ns[-STALL_S:]]
        if len(before) < LEAST_BEFORE_STALL_S or min(last) < P99_TIMES * (usual_ns := median(before)):
            return None
        return f"p99 rose to {last[-1] / 1e6:,.3g} ms for {STALL_S} s, from a median of {usual_ns / 1e6:,.3g} ms"


def _p99_ns(record: IntervalRecord) -> float | None:
    """Return p99 of a second: of response times if there are any, else of service times."""
    times = record["transactions"]
    recorded = times.get("response_time") or times.get("service_time")
    return Histogram.from_record(recorded).percentile_ns(99) if recorded else None


class StallProfile:
    """Records stacks from the first stall of a trial on, for some seconds, and keeps which seconds these were."""

    def __init__(self, window: AnyWindow) -> None:
        """Take what records."""
        self._window = window
        self._watch = StallWatch()
        self._seconds: list[int] = []
        self._reason: str | None = None
        self._recording = False
        self._transactions, self._lasted_s = 0, 0.0

    def record_came(self, record: Record) -> None:
        """Take a record of the load client, as it comes."""
        if record["record"] == "hello":
            self._window.add_client(record["pid"])
        elif record["record"] == "interval" and not self._window.is_blind:
            self._interval(record)

    def _interval(self, record: IntervalRecord) -> None:
        if self._recording:
            self._seconds.append(record["second"])
            self._transactions += record["transactions"]["completed"]
            self._lasted_s += record["seconds"]
            self._recording = not self._window.is_over
        elif self._reason is None and (reason := self._watch.reason(record)):
            self._reason, self._recording = reason, True
            self._window.begin()

    def marks(self) -> ProfiledStated | None:
        """Return the seconds that figures leave out, as `trial.json` has them; None if there are none."""
        return {"seconds": self._seconds, "reason": self._reason} if self._seconds else None

    def write(self, folder: Path) -> None:
        """Write what was recorded into `folder`, which is made; raises OSError if the disk is full."""
        folder.mkdir()
        stacks, failed = self._window.write(folder)
        missing = self._window.missing | failed
        per_s = self._transactions / self._lasted_s if self._lasted_s else None
        stated: ProfileStated = {
            "when": ON_STALL,
            "reason": self._reason,
            "seconds": WINDOW_S,
            "begun_unix_s": self._window.begun_unix_s,
            "transactions_per_s": per_s,
            "stacks": stacks,
            "counters": per_transaction(self._window.events_per_s(), per_s),
            "not_seen": not_recorded(missing),
        }
        write_profile(folder, stated)


@contextmanager
def profile_of_stall(context: Context, system: System) -> Iterator[StallProfile | None]:
    """Yield what profiles a stall of one trial; `None` if the experiment does not ask for it."""
    if context.experiment.profile != ON_STALL:
        yield None
        return
    with context.guard.scratch() as scratch, open_window(context, system, scratch) as window:
        yield StallProfile(window)
