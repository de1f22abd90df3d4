"""A load client's records (docs/contract.md), read into one value a trial."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from dbdyno.errors import UserError
from dbdyno.results.foreign_content import WRONG
from dbdyno.results.jsonfiles import read_lines
from dbdyno.results.model import WHOLE_SECOND, Interval, Operation, Recorded, Sums
from dbdyno.results.slowest import Slow, slowest
from dbdyno.stats.histogram import Histogram
from dbdyno.stats.steady_state import SteadyState, steady_state

if TYPE_CHECKING:
    from dbdyno.contract import (
        CheckRecord,
        CountedRecord,
        EndRecord,
        ErrorRecord,
        HelloRecord,
        HistogramRecord,
        IntervalRecord,
        LoadThreadsRecord,
        MismatchRecord,
        NamedOperation,
        PhaseRecord,
        QueryPlanRecord,
        QueryRecord,
        Record,
        TotalRecord,
        TotalTransactionsRecord,
    )

COARSE_BITS = 4
"""A heat map shows 8 buckets to a doubling where a histogram has 128."""
_TIMES = ("service_time", "response_time", "send_lag")

_NO_THREADS: LoadThreadsRecord = {"cpu_s": ()}
_MOST_COUNTED = 2**53
"""Largest count of transactions in a second, or of seconds: a summary keeps them as floats."""
_TOO_MUCH = "it holds a number that no load client can count to"


def read_records(path: Path, auto_warmup: bool = False, profiled: Collection[int] = ()) -> Recorded:
    """Read `records.jsonl`; a missing file, or one cut short by a kill, yields what it holds.

    Args:
        auto_warmup: figures begin at the steady state, if there is one, not right after the requested warm-up
            (docs/statistics.md, section 2).
        profiled: seconds that figures leave out, as stacks were recorded in them.

    Raises:
        UserError: a line before the last is not a record of contract version 1; it is named.
    """
    return read_all(path, auto_warmup, profiled).recorded()


def read_all(path: Path, auto_warmup: bool, profiled: Collection[int] = ()) -> Reader:
    """Read `records.jsonl` as `read_records` does, and keep what is known second by second too."""
    reader = Reader(auto_warmup, profiled)
    for number, record in read_lines(path):
        try:
            # A record of another kind or shape meets a KeyError.
            reader.add(cast("Record", record))
        except WRONG as error:
            what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise UserError(f"{path}, line {number}: not a record this version understands: {what}") from error
    return reader


class _Times:
    """The three times of one kind of thing, second by second, as docs/contract.md names them."""

    def __init__(self) -> None:
        self.parts: dict[str, list[tuple[int, Histogram]]] = {"service_time": []}

    def add(self, interval: int, second: dict[str, Histogram]) -> None:
        """Take those of one second."""
        for name, histogram in second.items():
            self.parts.setdefault(name, []).append((interval, histogram))

    def merged(self, begin: int) -> dict[str, Histogram]:
        """Return those there were, by name, each of all seconds from the interval `begin` on."""
        return {
            name: Histogram.merged([histogram for interval, histogram in parts if interval >= begin])
            for name, parts in self.parts.items()
        }

    def slowest(self, begin: int, seconds: Sequence[int]) -> tuple[Slow, ...]:
        """Return the slowest from the interval `begin` on; `seconds`: the number of each interval's second."""
        parts = self.parts.get("response_time") or self.parts["service_time"]
        return slowest(
            (seconds[interval], histogram) for interval, histogram in parts if begin <= interval < len(seconds)
        )


def _coarse(second: int, histogram: Histogram) -> np.ndarray:
    buckets, where = np.unique(histogram.indices >> COARSE_BITS, return_inverse=True)
    counts = np.bincount(where, histogram.counts, len(buckets)).astype(np.int64)
    return np.stack([np.full(len(buckets), second), buckets, counts])


def _times(counted: CountedRecord | TotalTransactionsRecord) -> dict[str, Histogram]:
    """Read the histograms of one second, by name."""
    times: Mapping[str, object] = counted
    return {name: Histogram.from_record(cast("HistogramRecord", times[name])) for name in _TIMES if name in times}


class Reader:
    """Takes records in turn. Only histograms of the measured seconds are kept, and those only until they are merged:
    a hundred trials of ten minutes have more buckets than memory should hold."""

    def __init__(self, auto_warmup: bool, profiled: Collection[int] = ()) -> None:
        self.auto_warmup = auto_warmup
        self.profiled = frozenset(profiled)
        self.hello: HelloRecord | None = None
        self.total: TotalRecord | None = None
        self.end: EndRecord | None = None
        self.errors: list[ErrorRecord] = []
        self.mismatches: list[MismatchRecord] = []
        self.checks: list[CheckRecord] = []
        self.query_plans: list[QueryPlanRecord] = []
        self.declared: dict[str, NamedOperation] = {}
        self.run_began_unix_s: float | None = None
        self.intervals: list[Interval] = []
        self.sums: Counter[str] = Counter()
        self.operation_sums: dict[str, Counter[str]] = defaultdict(Counter)
        self.transactions = _Times()
        self.operations: dict[str, _Times] = defaultdict(_Times)
        self.gaps_ns: list[tuple[int, int]] | None = None
        self.hot_unix_s: list[tuple[float, float]] = []
        self._coarse: list[np.ndarray] = []

    def add(self, record: Record) -> None:
        """Take one record; kinds this version does not know are left out, as the contract may grow."""
        match record["record"]:
            case "interval":
                self._interval(record)
            case "phase":
                self._phase(record)
            case "hello":
                self.hello = record
                self.declared = {operation["name"]: operation for operation in record.get("operations", [])}
            case "total":
                self.total = record
                # From a load client that knows times only for the whole run.
                self.transactions.add(len(self.intervals), _times(record["transactions"]))
            case "error":
                self.errors.append(record)
            case "mismatch":
                self.mismatches.append(record)
            case "check":
                self.checks.append(record)
            case "query" | "query_plan":
                self._query(record)
            case "end":
                self.end = record

    def _phase(self, record: PhaseRecord) -> None:
        if record["state"] != "end" and record["phase"] == "run":
            self.run_began_unix_s = float(record["at_unix_s"])
            # Edges of seconds are this and more: the difference of two infinite ones is no number.
            if not abs(self.run_began_unix_s) <= _MOST_COUNTED:
                raise ValueError(_TOO_MUCH)

    def _query(self, record: QueryRecord | QueryPlanRecord) -> None:
        if record["record"] == "query_plan":
            self.query_plans.append(record)
        # Runs of earlier versions do not say when.
        elif span := record.get("hot_unix_s"):
            begin, end = map(float, span)
            if not 0 <= begin <= end <= _MOST_COUNTED:
                raise ValueError(_TOO_MUCH)
            self.hot_unix_s.append((begin, end))

    def _interval(self, record: IntervalRecord) -> None:
        transactions, warmup = record["transactions"], bool(record["warmup"])
        profiled = int(record["second"]) in self.profiled
        measured = not warmup and not profiled
        for name, operation in record["operations"].items():
            self.operation_sums[name].update(completed=int(operation["completed"]), failed=int(operation["failed"]))
            if measured:
                self.operations[name].add(len(self.intervals), _times(operation))
        times = _times(transactions)
        if measured:
            self.transactions.add(len(self.intervals), times)
        threads = record.get("load_threads", _NO_THREADS)
        histogram = times.get("response_time") or times.get("service_time") or Histogram.merged([])
        interval = Interval(
            second=int(record["second"]),
            warmup=warmup,
            seconds=float(record["seconds"]),
            connected=int(record["connected"]),
            completed=int(transactions["completed"]),
            failed=int(transactions["failed"]),
            p50_ns=histogram.percentile_ns(50),
            p95_ns=histogram.percentile_ns(95),
            p99_ns=histogram.percentile_ns(99),
            p999_ns=histogram.percentile_ns(99.9),
            max_ns=histogram.max_ns,
            errors=cast(Mapping[str, int], record.get("errors", {})),
            reads_verified=int(record["reads_verified"]),
            mismatches=int(record["mismatches"]),
            client_cpu_s=float(record["client_cpu_s"]),
            counters=record.get("counters", {}),
            service_s=times["service_time"].sum_ns / 1e9 if "service_time" in times else 0.0,
            scheduled=None if (due := transactions.get("scheduled")) is None else int(due),
            thread_cpu_s=tuple(map(float, threads.get("cpu_s", ()))),
            thread_run_queue_s=tuple(map(float, threads.get("run_queue_s", ()))),
            profiled=profiled,
        )
        _check_numbers(interval)
        if (gaps_ns := record.get("gaps_ns")) is not None:
            self.gaps_ns = [*(self.gaps_ns or ()), *_gaps(gaps_ns)]
        self.intervals.append(interval)
        self._coarse.append(_coarse(interval.second, histogram))
        for key in ("completed", "failed", "reads_verified", "mismatches"):
            self.sums[key] += getattr(interval, key)
        self.sums["conflicts"] += int(transactions.get("conflicts", 0))
        if interval.scheduled is not None:
            self.sums["scheduled"] += interval.scheduled

    def latencies(self) -> np.ndarray:
        """Return how transactions' latencies were distributed, second by second: int64, shape (3, n) of second, coarse
        bucket (`COARSE_BITS` bits coarser than the contract's) and count."""
        return np.concatenate(self._coarse, axis=1) if self._coarse else np.zeros((3, 0), np.int64)

    def recorded(self) -> Recorded:
        """Merge what was taken."""
        declared, steady = self.declared, _steady_state(self.intervals)
        cut = self.auto_warmup and steady.steady
        asked = sum(interval.warmup for interval in self.intervals)
        begin = asked + steady.cut_s if cut else asked
        names = [*declared, *(name for name in self.operation_sums if name not in declared)]
        seconds = [interval.second for interval in self.intervals]
        operations = tuple(
            Operation(
                name,
                declared[name].get("operation") if name in declared else None,
                declared[name].get("table") if name in declared else None,
                failed=self.operation_sums[name]["failed"],
                slowest=self.operations[name].slowest(begin, seconds),
                **self.operations[name].merged(begin),
            )
            for name in names
        )
        by_operation = {name: (sums["completed"], sums["failed"]) for name, sums in self.operation_sums.items()}
        return Recorded(
            hello=self.hello,
            intervals=tuple(interval._replace(warmup=index < begin) for index, interval in enumerate(self.intervals)),
            **self.transactions.merged(begin),
            slowest=self.transactions.slowest(begin, seconds),
            operations=operations,
            errors=tuple(self.errors),
            mismatches=tuple(self.mismatches),
            checks=tuple(self.checks),
            query_plans=tuple(self.query_plans),
            run_began_unix_s=self.run_began_unix_s,
            sums=Sums(**self.sums, operations=by_operation),
            total=self.total,
            end=self.end,
            steady=steady,
            cut=cut,
            gaps_ns=None if self.gaps_ns is None else np.array(self.gaps_ns, np.int64).reshape(-1, 2),
            hot_unix_s=tuple(self.hot_unix_s),
        )


def _check_numbers(interval: Interval) -> None:
    """Raise ValueError if an interval holds a number that no load client can count to."""
    counted = (interval.second, interval.connected, interval.completed, interval.failed, interval.scheduled or 0)
    seconds = (interval.seconds, interval.client_cpu_s, *interval.thread_cpu_s, *interval.thread_run_queue_s)
    for number in (*counted, interval.reads_verified, interval.mismatches, *seconds):
        if not 0 <= number <= _MOST_COUNTED:
            raise ValueError(_TOO_MUCH)


def _gaps(listed: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Read begin and length of an interval's gaps; raise ValueError if no load client can record one."""
    gaps_ns = [(int(begin_ns), int(length_ns)) for begin_ns, length_ns in listed]
    if any(not 0 <= number <= _MOST_COUNTED for gap_ns in gaps_ns for number in gap_ns):
        raise ValueError(_TOO_MUCH)
    return gaps_ns


def _steady_state(intervals: list[Interval]) -> SteadyState:
    """Find the steady state of the whole seconds after the requested warm-up."""
    whole = [interval for interval in intervals if interval.measured and interval.seconds > WHOLE_SECOND]
    return steady_state(np.array([interval.completed / interval.seconds for interval in whole]))
