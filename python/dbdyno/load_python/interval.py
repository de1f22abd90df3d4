"""Counts of one second, by one process or, merged, by all; and the totals of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from dbdyno.contract import CountedRecord, ErrorKind, IntervalRecord
from dbdyno.load_python.histogram import Histogram


@dataclass
class Counted:
    """Completed and failed, with the times of the completed ones."""

    failed: int = 0
    service_time: Histogram = field(default_factory=Histogram)

    def merge(self, other: Counted) -> None:
        """Add what another process counted."""
        self.failed += other.failed
        self.service_time.merge(other.service_time)

    def to_record(self) -> CountedRecord:
        """Return it as the records have it."""
        completed = self.service_time.count
        return {"completed": completed, "failed": self.failed, "service_time": self.service_time.to_record()}


@dataclass
class Interval:
    """One second of the run, or less at its end; operations: one for each step, by its index. counters: of a cache."""

    second: int
    seconds: float
    operations: list[Counted]
    transactions: Counted = field(default_factory=Counted)
    connected: int = 0
    errors: Counter[ErrorKind] = field(default_factory=Counter)
    reads_verified: int = 0
    mismatches: int = 0
    client_cpu_s: float = 0.0
    counters: Counter[str] = field(default_factory=Counter)

    def merge(self, other: Interval) -> None:
        """Add what another process counted in the same second."""
        self.seconds = max(self.seconds, other.seconds)
        self.transactions.merge(other.transactions)
        for mine, others in zip(self.operations, other.operations, strict=True):
            mine.merge(others)
        self.errors.update(other.errors)
        self.counters.update(other.counters)
        self.connected += other.connected
        self.reads_verified += other.reads_verified
        self.mismatches += other.mismatches
        self.client_cpu_s += other.client_cpu_s

    def to_record(self, names: list[str], warmup_s: int) -> IntervalRecord:
        """Return the record `interval`; names: of the steps."""
        operations = {name: counted.to_record() for name, counted in zip(names, self.operations, strict=True)}
        record: IntervalRecord = {
            "record": "interval",
            "second": self.second,
            "warmup": self.second < warmup_s,
            "seconds": self.seconds,
            "connected": self.connected,
            "transactions": self.transactions.to_record(),
            "operations": operations,
            "errors": dict(self.errors),
            "reads_verified": self.reads_verified,
            "mismatches": self.mismatches,
            "client_cpu_s": round(self.client_cpu_s, 6),
        }
        if self.counters:
            record["counters"] = dict(self.counters)
        return record


@dataclass
class Totals:
    """Counted over the whole run by the clients themselves, apart from the intervals, to be held against them.

    operations: completed and failed of each step. in_flight_ns: the sum of all transactions' times within the run.
    unanswered: operations in flight at the end that had no answer within the time-out, or lost their connection.
    added: increments that were acknowledged, at any time; maybe_added: those without an answer.
    """

    operations: list[list[int]]
    scheduled: int = 0
    completed: int = 0
    failed: int = 0
    unanswered: int = 0
    reads_verified: int = 0
    mismatches: int = 0
    in_flight_ns: int = 0
    added: int = 0
    maybe_added: int = 0

    @classmethod
    def of(cls, steps: int) -> Totals:
        """Return totals of a workload of so many steps, nothing counted yet."""
        return cls([[0, 0] for _ in range(steps)])

    @property
    def unfinished(self) -> int:
        """Transactions that had begun and not ended when time was up."""
        return self.scheduled - self.completed - self.failed

    def merge(self, other: Totals) -> None:
        """Add what another client or process counted."""
        for mine, others in zip(self.operations, other.operations, strict=True):
            mine[0] += others[0]
            mine[1] += others[1]
        for name in (
            *("scheduled", "completed", "failed", "unanswered", "reads_verified", "mismatches"),
            *("in_flight_ns", "added", "maybe_added"),
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def add_interval(self, interval: Interval) -> None:
        """Add what an interval holds, to hold the sum of all against the totals."""
        self.completed += interval.transactions.service_time.count
        self.failed += interval.transactions.failed
        self.reads_verified += interval.reads_verified
        self.mismatches += interval.mismatches
        for mine, counted in zip(self.operations, interval.operations, strict=True):
            mine[0] += counted.service_time.count
            mine[1] += counted.failed
