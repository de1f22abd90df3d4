"""Records of several load clients as those of one (docs/contract.md, Several load clients in one trial).

Counts, buckets and CPU are added, second by second. No sample is altered, and no percentile is averaged.
"""

import heapq
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar, cast

import numpy as np

from dbdyno.contract import (
    ChangesDocument,
    ChangesRecord,
    CountedRecord,
    EndRecord,
    HelloRecord,
    HistogramRecord,
    IntervalRecord,
    JsonObject,
    LoadThreadsRecord,
    PhaseRecord,
    Record,
    TotalCountedRecord,
    TotalRecord,
    TotalTransactionsRecord,
)
from dbdyno.stats.histogram import LAST_BUCKET

_Counted = TypeVar("_Counted", CountedRecord, TotalCountedRecord, TotalTransactionsRecord)

GAP_NS = 10_000_000
"""Shorter gaps are not recorded (docs/contract.md, Gaps)."""
_Key = TypeVar("_Key", bound=str)
_SUMMED: tuple[Literal["connected", "reads_verified", "mismatches", "client_cpu_s"], ...] = (
    "connected",
    "reads_verified",
    "mismatches",
    "client_cpu_s",
)
_TIMES = ("service_time", "response_time", "send_lag")
_SAME: tuple[Literal["contract", "program", "version", "profile", "operations"], ...] = (
    "contract",
    "program",
    "version",
    "profile",
    "operations",
)
_FIRST, _LAST = ("begin", "start"), ("end",)
_ENDS = ("complete", "interrupted", "failed", "refused")
"""Ways to end, the worst last."""


def merge_records(parts: Sequence[Iterable[Record]], offsets_s: Sequence[float]) -> Iterator[Record]:
    """Yield the records of one trial, from those of its load clients.

    What they changed together comes as one record too, if all recorded it. The parts are read side by side, so that
    one second of each is in memory.

    offsets_s: what the clock of each shows more than the one whose times are wanted.
    Raises ValueError if the parts are not of one trial.
    """
    merger = _Merger(len(parts))
    streams = [iter(records) for records in parts]
    waiting: dict[int, IntervalRecord] = {}
    going = set(range(len(parts)))
    while True:
        for number in sorted(going - waiting.keys()):
            if (interval := _next_interval(streams[number], merger, number, offsets_s[number])) is None:
                going.discard(number)
            else:
                waiting[number] = interval
        if not waiting:
            break
        second = min(interval["second"] for interval in waiting.values())
        ready = [number for number in sorted(waiting) if waiting[number]["second"] == second]
        merger.add_second({number: waiting.pop(number) for number in ready})
    yield from merger.merged()


def _next_interval(records: Iterator[Record], merger: "_Merger", number: int, offset_s: float) -> IntervalRecord | None:
    """Return the next second of a part, and hand on what comes before it; None at the part's end."""
    for record in records:
        if record["record"] == "interval":
            return record
        merger.add(record, number, offset_s)
    return None


def merge_histograms(histograms: Sequence[HistogramRecord]) -> HistogramRecord:
    """Return a histogram of all values of several, in the form of the contract."""
    full = [histogram for histogram in histograms if histogram["count"]]
    if not full:
        return {"count": 0, "sum_ns": 0, "min_ns": 0, "max_ns": 0, "buckets": []}
    return {
        "count": sum(histogram["count"] for histogram in full),
        "sum_ns": sum(histogram["sum_ns"] for histogram in full),
        "min_ns": min(histogram["min_ns"] for histogram in full),
        "max_ns": max(histogram["max_ns"] for histogram in full),
        "buckets": _added_buckets([histogram["buckets"] for histogram in full]),
    }


def _added_buckets(lists: Sequence[Sequence[int]]) -> list[int]:
    """Return lists of bucket and count by turns as one; raises ValueError if a list is something else.

    200 hosts have 100,000 buckets in a second, which are too many to be added one by one.
    """
    taken = array("q")
    for numbers in lists:
        if isinstance(numbers, np.ndarray):
            taken.frombytes(numbers.tobytes())
        else:
            taken.fromlist(list(numbers))
    pairs = np.frombuffer(taken, np.int64)
    buckets = pairs[::2]
    if any(len(numbers) % 2 for numbers in lists) or ((buckets < 0) | (buckets > LAST_BUCKET)).any():
        raise ValueError("a load client recorded a bucket that there is not")
    counts = np.zeros(LAST_BUCKET + 1, np.int64)
    np.add.at(counts, buckets, pairs[1::2])
    filled = np.flatnonzero(counts)
    added: list[int] = np.column_stack((filled, counts[filled])).ravel().tolist()
    return added


def merge_intervals(intervals: Sequence[IntervalRecord]) -> IntervalRecord:
    """Return one second of a trial from the same second of its load clients, without its gaps."""
    first = intervals[0]
    # While a run lasts, hosts send seconds that lack some keys.
    merged: dict[str, object] = {key: value for key, value in first.items() if key in ("record", "second", "warmup")}
    merged["seconds"] = max(interval["seconds"] for interval in intervals)
    for key in _SUMMED:
        if key in first:
            merged[key] = sum(interval[key] for interval in intervals)
    merged["transactions"] = _merge_counted([interval["transactions"] for interval in intervals])
    if "operations" in first:
        merged["operations"] = _merge_operations([interval["operations"] for interval in intervals])
    if any("errors" in interval for interval in intervals):
        merged["errors"] = _added(interval.get("errors", {}) for interval in intervals)
    if any("counters" in interval for interval in intervals):
        merged["counters"] = _added(interval.get("counters", {}) for interval in intervals)
    if all("load_threads" in interval for interval in intervals):
        merged["load_threads"] = _side_by_side([interval["load_threads"] for interval in intervals])
    return cast(IntervalRecord, merged)


def _merge_operations(parts: Sequence[Mapping[str, _Counted]]) -> dict[str, _Counted]:
    """Return each operation as all load clients counted it together."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: _merge_counted([part[name] for part in parts if name in part]) for name in names}


def _merge_counted(parts: Sequence[_Counted]) -> _Counted:
    """Add what was counted of transactions or of one operation; times are merged bucket by bucket."""
    objects = cast(Sequence[JsonObject], parts)
    counts = _added({key: value for key, value in part.items() if key not in _TIMES} for part in objects)
    recorded = {key: [part[key] for part in objects if key in part] for key in _TIMES}
    times = {key: merge_histograms(histograms) for key, histograms in recorded.items() if histograms}
    return cast(_Counted, {**counts, **times})


def _added(counted: Iterable[Mapping[_Key, float]]) -> dict[_Key, float]:
    total: dict[_Key, float] = {}
    for counts in counted:
        for key, value in counts.items():
            total[key] = total.get(key, 0) + value
    return total


def _side_by_side(threads: Sequence[LoadThreadsRecord]) -> LoadThreadsRecord:
    """Return the lists of load threads one after the other; a list that one lacks is left out."""
    merged: LoadThreadsRecord = {"cpu_s": [value for lists in threads for value in lists["cpu_s"]]}
    if all("run_queue_s" in lists for lists in threads):
        merged["run_queue_s"] = [value for lists in threads for value in lists["run_queue_s"]]
    return merged


class _Merger:
    """Takes the records of all load clients, second by second."""

    def __init__(self, parts: int) -> None:
        self._hellos: dict[int, HelloRecord] = {}
        self._phases: dict[tuple[str, str], list[PhaseRecord]] = defaultdict(list)
        self._merged: list[IntervalRecord] = []
        self._gaps: list[list[tuple[int, int]]] = [[] for _ in range(parts)]
        self._has_gaps = False
        self._listed: list[Record] = []
        self._totals: list[TotalRecord] = []
        self._changes: list[ChangesRecord] = []
        self._ends: list[EndRecord] = []

    def add_second(self, intervals: Mapping[int, IntervalRecord]) -> None:
        """Take the same second of some parts, by their numbers."""
        for number, interval in intervals.items():
            self._has_gaps = self._has_gaps or "gaps_ns" in interval
            self._gaps[number] += [(begin, length) for begin, length in interval.get("gaps_ns", ())]
        self._merged.append(merge_intervals(list(intervals.values())))

    def add(self, record: Record, number: int, offset_s: float) -> None:
        """Take another record of a part; those that only one program needs are left out."""
        match record["record"]:
            case "hello":
                self._hellos[number] = record
            case "phase":
                if "at_unix_s" in record:
                    record = {**record, "at_unix_s": record["at_unix_s"] - offset_s}
                self._phases[record["phase"], record["state"]].append(record)
            case "error" | "mismatch" | "check" | "query_plan":
                self._listed.append(record)
            case "total":
                self._totals.append(record)
            case "changes":
                self._changes.append(record)
            case "end":
                self._ends.append(record)

    def merged(self) -> Iterator[Record]:
        """Yield everything in the order of the contract."""
        if not self._hellos:
            return
        yield self._hello()
        yield from self._phase_records("begin")
        yield from self._phase_records("start")
        yield from self._seconds()
        yield from self._listed
        if len(self._totals) == len(self._hellos):
            yield self._total()
        yield from self._phase_records("end")
        if len(self._changes) == len(self._hellos):
            changes: ChangesRecord = {"record": "changes", **merge_changes(self._changes)}
            yield changes
        if len(self._ends) == len(self._hellos):
            yield max(self._ends, key=lambda end: _ENDS.index(end["status"]))

    def _hello(self) -> HelloRecord:
        first, *others = hellos = [self._hellos[number] for number in sorted(self._hellos)]
        for other in others:
            for key in _SAME:
                if other[key] != first[key]:
                    raise ValueError(f"load clients of one trial differ in {key}: {first[key]} and {other[key]}")
        merged: HelloRecord = {**first, "threads": sum(hello["threads"] for hello in hellos)}
        if first.get("processors"):
            merged["processors"] = sum(hello["processors"] for hello in hellos)
        return merged

    def _phase_records(self, state: str) -> Iterator[PhaseRecord]:
        """Yield when a phase began for the first, or ended for the last."""
        for (_, of), records in self._phases.items():
            if of == state:
                pick = max if state in _LAST else min
                yield pick(records, key=lambda record: record["at_unix_s"])

    def _seconds(self) -> Iterator[IntervalRecord]:
        merged = self._merged
        if self._has_gaps:
            ends_ns, passed_s = [], 0.0
            gaps_ns: list[list[list[int]]] = [[] for _ in merged]
            for interval, of_second in zip(merged, gaps_ns, strict=True):
                passed_s += interval["seconds"]
                interval["gaps_ns"] = of_second
                ends_ns.append(round(passed_s * 1e9))
            for begin_ns, length_ns in common_gaps([self._gaps[number] for number in self._hellos]):
                ended_ns = begin_ns + length_ns
                index = next((at for at, end_ns in enumerate(ends_ns) if ended_ns <= end_ns), len(merged) - 1)
                gaps_ns[index].append([begin_ns, length_ns])
        yield from merged

    def _total(self) -> TotalRecord:
        in_flight = [part["in_flight_mean"] for part in self._totals]
        total: TotalRecord = {
            "record": "total",
            "transactions": _merge_counted([part["transactions"] for part in self._totals]),
            "operations": _merge_operations([part["operations"] for part in self._totals]),
            "seconds": max(part["seconds"] for part in self._totals),
            "reads_verified": sum(part["reads_verified"] for part in self._totals),
            "mismatches": sum(part["mismatches"] for part in self._totals),
            "in_flight_mean": None if None in in_flight else sum(filter(None, in_flight)),
        }
        if late_s := [part["begun_late_s"] for part in self._totals if "begun_late_s" in part]:
            total["begun_late_s"] = max(late_s)
        if moved := [part["moved_keys"] for part in self._totals if "moved_keys" in part]:
            total["moved_keys"] = {
                "asked": sum(keys["asked"] for keys in moved),
                "moved": sum(keys["moved"] for keys in moved),
                "due": sum(keys["due"] for keys in moved),
            }
        return total


def merge_changes(changes: Sequence[ChangesDocument]) -> ChangesDocument:
    """Return what several load clients changed together, as the plan of the one that verifies has it."""
    before = [change["before"] for change in changes if any(value is not None for value in change["before"])]
    return {
        "before": before[0] if before else changes[0]["before"],
        "added": sum(change["added"] for change in changes),
        "maybe_added": sum(change["maybe_added"] for change in changes),
        "maybe_subtracted": sum(change["maybe_subtracted"] for change in changes),
        "inserted": sum(change["inserted"] for change in changes),
        "maybe_inserted": sum(change["maybe_inserted"] for change in changes),
        "deleted": sum(change["deleted"] for change in changes),
        "maybe_deleted": sum(change["maybe_deleted"] for change in changes),
    }


def common_gaps(gaps_ns: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Return begin and length of the times in which none of the programs completed an operation."""
    edges = heapq.merge(*(_edges(gaps) for gaps in gaps_ns))
    common, open_gaps, began_ns = [], 0, 0
    for at_ns, change in edges:
        if open_gaps == len(gaps_ns) and change < 0 and at_ns - began_ns >= GAP_NS:
            common.append((began_ns, at_ns - began_ns))
        open_gaps += change
        if open_gaps == len(gaps_ns):
            began_ns = at_ns
    return common


def _edges(gaps_ns: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return where gaps of one program open (1) and close (−1), in order; one that closes comes first."""
    return sorted(edge for begin, length in gaps_ns for edge in ((begin, 1), (begin + length, -1)))
