"""The records (docs/contract.md) of what dbdyno does itself: a pass through some operations is a transaction.

So whatever reads a run of load clients reads one of these.
"""

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from dbdyno import __version__
from dbdyno.contract import CONTRACT, CountedRecord, HelloRecord, HistogramRecord, Record
from dbdyno.stats.histogram import bucket_index


def hello(transaction: str, operations: Iterable[tuple[str, str, str | None]]) -> HelloRecord:
    """Return the first record. operations: name, logical operation and table of each."""
    return {
        "record": "hello",
        "contract": CONTRACT,
        "program": "dbdyno",
        "version": __version__,
        "profile": "release",
        "pid": os.getpid(),
        "transaction": transaction,
        "operations": [{"name": name, "operation": operation, "table": table} for name, operation, table in operations],
        "threads": 1,
    }


def conclusion(
    passes: Sequence[Mapping[str, float]],
    whole: bool,
    checks: Mapping[str, str | None],
    failure: str | None,
    warmup_passes: int = 0,
) -> Iterator[Record]:
    """Yield the records after the last pass: an interval for each, the checks, total and end.

    passes: each operation's seconds. whole: whether all operations were got to. checks: by name, what was found wrong.
    warmup_passes: how many of them, from the first on, are in no figure.
    """
    for second, times in enumerate(passes):
        spent_s = sum(times.values())
        yield {
            "record": "interval",
            "second": second,
            "warmup": second < warmup_passes,
            "seconds": spent_s,
            "connected": 1,
            "transactions": _counted([spent_s] if whole else []),
            "operations": {name: _counted([seconds]) for name, seconds in times.items()},
            "errors": {},
            "reads_verified": 0,
            "mismatches": 0,
            "client_cpu_s": 0.0,
        }
    seconds = sum(sum(times.values()) for times in passes)
    yield {"record": "phase", "phase": "run", "state": "end", "at_unix_s": time.time(), "seconds": seconds}
    for name, wrong in checks.items():
        yield {"record": "check", "name": name, "expected": None, "found": wrong, "ok": not wrong, "note": None}
    done = len(passes) if whole else 0
    yield {
        "record": "total",
        "transactions": {"scheduled": done, "completed": done, "failed": 0, "unfinished": 0},
        "operations": {
            name: {"completed": count, "failed": 0} for name, count in Counter(chain.from_iterable(passes)).items()
        },
        "reads_verified": 0,
        "mismatches": 0,
        "seconds": seconds,
        "in_flight_mean": 1.0,
    }
    yield {"record": "end", "status": "failed" if failure else "complete", "reason": failure}


def _counted(times_s: list[float]) -> CountedRecord:
    """Return how often and how long, as an interval has it."""
    times_ns = [round(seconds * 1e9) for seconds in times_s]
    buckets = sorted(Counter(map(bucket_index, times_ns)).items())
    service_time: HistogramRecord = {
        "count": len(times_ns),
        "sum_ns": sum(times_ns),
        "min_ns": min(times_ns, default=0),
        "max_ns": max(times_ns, default=0),
        "buckets": [number for pair in buckets for number in pair],
    }
    return {"completed": len(times_ns), "failed": 0, "service_time": service_time}
