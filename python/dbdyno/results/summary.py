"""The summary of a trial's recordings (`summary.npz`), so that a run of any length is shown again at once.

A hundred trials of ten minutes are 600 MB of records, which take a minute of processor time to read. A summary is
written when a trial is first read, which dbdyno does as soon as it has ended. It can be deleted at any time. It is made
anew if it is missing, or of other recordings than those beside it.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dbdyno import __version__
from dbdyno.errors import UserError
from dbdyno.results.jsonfiles import from_json
from dbdyno.results.model import Interval, Operation, Recorded, Sums
from dbdyno.results.observations import LINES, TABLE, read_observations
from dbdyno.results.records import read_all
from dbdyno.results.slowest import Slow
from dbdyno.stats.histogram import Histogram
from dbdyno.stats.steady_state import SteadyState

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject

SUMMARY = "summary.npz"
LAYOUT = 10
"""To be raised when a summary holds something else, or the same of another meaning."""
_SOURCES = ("records.jsonl", LINES, TABLE)
_END_BYTES = 4096
_TIMES = ("service_time", "response_time", "send_lag")
_WHOLE = (
    *("second", "warmup", "profiled", "connected", "completed", "failed", "max_ns", "reads_verified", "mismatches"),
    "scheduled",
)
_PERCENTILES = ("p50_ns", "p95_ns", "p99_ns", "p999_ns")
_REAL = ("seconds", *_PERCENTILES, "client_cpu_s", "service_s")
_THREADS = ("thread_cpu_s", "thread_run_queue_s")
_ABOUT = ("hello", "errors", "mismatches", "checks", "query_plans", "run_began_unix_s", "total", "end", "hot_unix_s")
_COLUMNS = (*_WHOLE, *_REAL)
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Summary:
    """A trial's recordings, read.

    Attributes:
        observed: mean of each column of the observations over the measured time, of a `_total` its growth per second.
        latencies: as `Reader.latencies`; `None` if it was not asked for.
    """

    recorded: Recorded
    observed: Mapping[str, float]
    latencies: np.ndarray | None


def read_summary(
    folder: Path, auto_warmup: bool = False, latencies: bool = False, profiled: Collection[int] = ()
) -> Summary:
    """Return what was recorded of a trial, from its summary if there is one, else from the recordings themselves.

    Args:
        auto_warmup, profiled: as `read_records`.
        latencies: return these too; they take as long to read as all the rest.

    Raises:
        UserError: a recording cannot be understood.
    """
    key = _key(folder, auto_warmup, profiled)
    if stored := _stored(folder, key, latencies):
        return stored
    reader = read_all(folder / "records.jsonl", auto_warmup, profiled)
    recorded = reader.recorded()
    summary = Summary(recorded, _observed(folder, recorded), reader.latencies())
    if recorded.end is not None:
        _write(folder, key, summary)
    return summary


def is_summarized(folder: Path) -> bool:
    """Return whether a trial has a summary that is no older than what was recorded."""
    return _summary_of(folder) is not None


def _observed(folder: Path, recorded: Recorded) -> dict[str, float]:
    try:
        observations = read_observations(folder)
    except UserError:
        # A reader of the observations themselves gets the error; the trial's own figures do not depend on them.
        return {}
    window = recorded.window_unix_s
    if observations is None or window is None:
        return {}
    observations = replace(observations, left_out=recorded.left_out_unix_s)
    means = {
        name: observations.mean_rate(name, *window) if name.endswith("_total") else observations.mean(name, *window)
        for name in observations.names()
    }
    return {name: mean for name, mean in means.items() if mean is not None}


def _key(folder: Path, auto_warmup: bool, profiled: Collection[int]) -> list[Any]:
    """The identity of recordings: they only grow, so their sizes and last bytes identify them."""
    return [LAYOUT, __version__, auto_warmup, sorted(profiled), *(_file_key(folder / name) for name in _SOURCES)]


def _file_key(path: Path) -> list[int] | None:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _END_BYTES))
            return [size, zlib.crc32(file.read())]
    except FileNotFoundError:
        return None


def _summary_of(folder: Path) -> Path | None:
    path = folder / SUMMARY
    with suppress(OSError):
        written_s = path.stat().st_mtime
        return path if all(_changed_s(folder / name) <= written_s for name in _SOURCES) else None
    return None


def _stored(folder: Path, key: list[Any], latencies: bool) -> Summary | None:
    """Return the summary if it is of these recordings; one that is damaged is as good as none."""
    if path := _summary_of(folder):
        # A file, an archive, its compression and NumPy's headers each have exceptions of their own.
        with suppress(Exception), np.load(path, allow_pickle=False) as arrays:
            about = from_json(arrays["about"].tobytes())
            if about["key"] == key:
                return _unpacked(arrays, about, latencies)
    return None


def _changed_s(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0


def _write(folder: Path, key: list[Any], summary: Summary) -> None:
    partial = folder / f".{SUMMARY}.{os.getpid()}"
    # A run that may be read but not written to is read as it was recorded, every time.
    with suppress(OSError):
        try:
            with partial.open("wb") as file:
                np.savez_compressed(file, allow_pickle=False, **_packed(summary, key))
            os.replace(partial, folder / SUMMARY)
        finally:
            partial.unlink(missing_ok=True)


def _bytes(value: Any) -> np.ndarray:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def _packed(summary: Summary, key: list[Any]) -> dict[str, np.ndarray]:
    recorded = summary.recorded
    intervals = recorded.intervals
    histograms = list(_histograms(recorded))
    about = {
        "key": key,
        **{name: getattr(recorded, name) for name in _ABOUT},
        "steady": asdict(recorded.steady),
        "sums": asdict(recorded.sums),
        "cut": recorded.cut,
        "has_gaps": recorded.gaps_ns is not None,
        "operations": [
            (operation.name, operation.operation, operation.table, operation.failed)
            for operation in recorded.operations
        ],
        "slowest": [recorded.slowest, *(operation.slowest for operation in recorded.operations)],
        "interval_errors": {index: interval.errors for index, interval in enumerate(intervals) if interval.errors},
        "interval_counters": [interval.counters for interval in intervals]
        if any(interval.counters for interval in intervals)
        else [],
        "observed": summary.observed,
        "histograms": [
            (owner, time, histogram.count, histogram.sum_ns, histogram.min_ns, histogram.max_ns, len(histogram.indices))
            for owner, time, histogram in histograms
        ],
    }
    columns = [
        [_UNKNOWN if (value := getattr(interval, name)) is None else value for interval in intervals]
        for name in _COLUMNS
    ]
    buckets = [np.stack([histogram.indices, histogram.counts]) for _, _, histogram in histograms]
    return {
        "about": _bytes(about),
        # Counts are whole and below 2⁵³: one table of floats holds them exactly, and is read in half the time of two.
        "seconds": np.array(columns, float),
        **{name: _of_threads([getattr(interval, name) for interval in intervals]) for name in _THREADS},
        "buckets": np.concatenate(buckets, axis=1),
        "gaps_ns": np.zeros((0, 2), np.int64) if recorded.gaps_ns is None else recorded.gaps_ns,
        "latencies": np.zeros((3, 0), np.int64) if summary.latencies is None else summary.latencies,
    }


def _of_threads(seconds: Sequence[tuple[float, ...]]) -> np.ndarray:
    """Shape (seconds, threads); a second in which fewer told has NaN for the others."""
    table = np.full((len(seconds), max(map(len, seconds), default=0)), np.nan)
    for second, of_threads in enumerate(seconds):
        table[second, : len(of_threads)] = of_threads
    return table


def _histograms(recorded: Recorded) -> Iterator[tuple[int, str, Histogram]]:
    """Every histogram with the place of its operation (the transaction's is -1) and its name."""
    for owner_index, owner in enumerate((recorded, *recorded.operations), -1):
        for time in _TIMES:
            if (histogram := getattr(owner, time)) is not None:
                yield owner_index, time, histogram


def _unpacked(arrays: np.lib.npyio.NpzFile, about: JsonObject, latencies: bool) -> Summary:
    times: dict[int, dict[str, Histogram]] = {}
    buckets, begin = arrays["buckets"], 0
    for owner, time, count, sum_ns, min_ns, max_ns, length in about["histograms"]:
        indices, counts = buckets[:, begin : begin + length]
        times.setdefault(owner, {})[time] = Histogram(indices, counts, count, sum_ns, min_ns, max_ns)
        begin += length
    of_all, *of_operations = (tuple(Slow(*record) for record in slow) for slow in about["slowest"])
    recorded = Recorded(
        hello=about["hello"],
        errors=tuple(about["errors"]),
        mismatches=tuple(about["mismatches"]),
        checks=tuple(about["checks"]),
        query_plans=tuple(about["query_plans"]),
        run_began_unix_s=about["run_began_unix_s"],
        sums=Sums(**about["sums"]),
        total=about["total"],
        end=about["end"],
        steady=SteadyState(**about["steady"]),
        cut=about["cut"],
        intervals=_intervals(about, arrays["seconds"], {name: arrays[name] for name in _THREADS}),
        operations=tuple(
            Operation(name, operation, table, failed=failed, slowest=of_operations[index], **times[index])
            for index, (name, operation, table, failed) in enumerate(about["operations"])
        ),
        slowest=of_all,
        service_time=times[-1]["service_time"],
        response_time=times[-1].get("response_time"),
        send_lag=times[-1].get("send_lag"),
        gaps_ns=arrays["gaps_ns"] if about["has_gaps"] else None,
        hot_unix_s=tuple((begin, end) for begin, end in about["hot_unix_s"]),
    )
    return Summary(recorded, about["observed"], arrays["latencies"] if latencies else None)


def _intervals(about: JsonObject, table: np.ndarray, threads: Mapping[str, np.ndarray]) -> tuple[Interval, ...]:
    columns: dict[str, list[Any]] = dict(zip(_WHOLE, table[: len(_WHOLE)].astype(np.int64).tolist(), strict=True))
    columns |= zip(_REAL, table[len(_WHOLE) :].tolist(), strict=True)
    for name in ("scheduled", *_PERCENTILES):
        columns[name] = [None if value == _UNKNOWN else value for value in columns[name]]
    for name in ("warmup", "profiled"):
        columns[name] = list(map(bool, columns[name]))
    for name, values in threads.items():
        columns[name] = [tuple(second[~np.isnan(second)].tolist()) for second in values]
    nothing: dict[str, int] = {}
    errors: list[Mapping[str, int]] = [nothing] * table.shape[1]
    for index, counted in about["interval_errors"].items():
        errors[int(index)] = counted
    columns["errors"] = errors
    columns["counters"] = about["interval_counters"] or [nothing] * table.shape[1]
    return tuple(map(Interval._make, zip(*(columns[name] for name in Interval._fields), strict=True)))
