"""Reads the output of sysbench 1.0: a line a second, and the report at its end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dbdyno.contract import HistogramRecord
from dbdyno.load_python.histogram import bucket_indices

STARTED = "Threads started!"
COUNTS = ("completed", "conflicts", "reconnects", "read", "write", "other")
"""Counters of a second and of a run: transactions (sysbench's events), ignored errors, lost connections that
were opened anew, and queries by their kind."""
_NUMBER = r"([\d.]+)"
_SECOND = re.compile(
    rf"\[ \d+s \] thds: (\d+) (?:tps|eps): {_NUMBER}"
    rf"(?: qps: [\d.]+ \(r/w/o: {_NUMBER}/{_NUMBER}/{_NUMBER}\))?.*?(?:err/s:? {_NUMBER})?(?: reconn/s: {_NUMBER})?$"
)
_BUCKET = re.compile(rf"\s*{_NUMBER} \|\**\s+(\d+)$")
_TOTALS = {
    "completed": r"total number of events:\s+(\d+)",
    "conflicts": r"ignored errors:\s+(\d+)",
    "reconnects": r"reconnects:\s+(\d+)",
    "read": r"read:\s+(\d+)",
    "write": r"write:\s+(\d+)",
    "other": r"other:\s+(\d+)",
}
_TOLD = ("FATAL", "ALERT", "error", "Error", "does not implement", "invalid option")


@dataclass(frozen=True)
class Second:
    """A line of `--report-interval=1`: threads, and each of COUNTS per second."""

    threads: int
    per_s: Mapping[str, float]


@dataclass(frozen=True)
class Report:
    """A run's report: COUNTS over all of it, its seconds, the sum of latencies, and their histogram."""

    counts: Mapping[str, int]
    seconds: float
    latency_s: float
    service_time: HistogramRecord


def read_second(line: str) -> Second | None:
    """Read a line a second; None if it is another line."""
    if not (match := _SECOND.fullmatch(line.strip())):
        return None
    threads, completed, *queries, conflicts, reconnects = match.groups()
    rates = dict(zip(COUNTS, (completed, conflicts, reconnects, *queries), strict=True))
    return Second(int(threads), {name: float(rate or 0) for name, rate in rates.items()})


def read_report(lines: Iterable[str]) -> Report | None:
    """Read the report; None if there is none."""
    text = "\n".join(lines)
    if not (seconds := re.search(rf"total time:\s+{_NUMBER}s", text)):
        return None
    matches = {name: re.search(rf"^\s+{pattern}", text, re.MULTILINE) for name, pattern in _TOTALS.items()}
    counts = {name: int(match[1]) if match else 0 for name, match in matches.items()}
    latency_ms = {
        name: float(match[1]) if (match := re.search(rf"^\s+{name}:\s+{_NUMBER}$", text, re.MULTILINE)) else 0.0
        for name in ("min", "max", "sum")
    }
    buckets = [(float(match[1]), int(match[2])) for line in text.splitlines() if (match := _BUCKET.fullmatch(line))]
    return Report(counts, float(seconds[1]), latency_ms["sum"] / 1000, _histogram(buckets, latency_ms))


def _histogram(buckets: list[tuple[float, int]], latency_ms: Mapping[str, float]) -> HistogramRecord:
    """Return sysbench's histogram as the contract has one: each of its buckets, in ms, at the place of its middle.

    1,024 buckets lie evenly on a logarithmic scale from 1 µs to 100 s, so each is 1.8 % wide, and the middles are
    printed to a µs (sb_histogram.c, sb_histogram_print). Minimum, maximum and sum are printed to 10 µs.
    """
    indices = bucket_indices(np.array([round(middle_ms * 1e6) for middle_ms, _ in buckets], np.int64))
    counts: Counter[int] = Counter()
    for bucket, (_, count) in zip(indices.tolist(), buckets, strict=True):
        counts[bucket] += count
    return {
        "count": sum(counts.values()),
        "sum_ns": round(latency_ms["sum"] * 1e6),
        "min_ns": round(latency_ms["min"] * 1e6),
        "max_ns": round(latency_ms["max"] * 1e6),
        "buckets": [number for pair in sorted(counts.items()) for number in pair],
    }


def telling(lines: Iterable[str]) -> str:
    """Return sysbench's messages about its failure, in a line."""
    lines = [line.strip() for line in lines if line.strip()]
    messages = [line for line in lines if any(word in line for word in _TOLD)]
    return "; ".join((messages or lines[-1:])[:3]) or "it said nothing"
