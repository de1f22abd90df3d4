"""One row a bucket of a latency histogram, over the measured seconds of a trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dbdyno.report.document import in_reading_order
from dbdyno.results.model import Operation, Recorded, Run, Trial
from dbdyno.stats.histogram import bucket_bounds
from dbdyno.tables.seconds import identity_of
from dbdyno.tables.table import Column, Table
from dbdyno.tables.trials import IDENTITY

COLUMNS = (
    *IDENTITY,
    Column("operation", "text", "the workload's name of the operation; unknown for whole transactions"),
    Column("time", "text", "service_time, response_time or send_lag"),
    Column("from_us", "number", "lowest time of the bucket"),
    Column("below_us", "number", "end of the bucket, which the next one begins with"),
    Column("count", "whole", "how many took that long"),
)
_TIMES = ("service_time", "response_time", "send_lag")


def histograms_of(runs: Sequence[Run]) -> Table:
    """Return the histograms of the trials of runs; a bucket is at most 0.8 % wide, and an empty one has no row."""
    pairs = ((run, trial) for run in runs for trial in in_reading_order(run))
    return Table("histograms", COLUMNS, (row for run, trial in pairs for row in _rows(run, trial)))


def _rows(run: Run, trial: Trial) -> Iterator[tuple[Any, ...]]:
    same = identity_of(run, trial)
    of: list[tuple[str | None, Recorded | Operation]] = [(None, trial.recorded)]
    of += [(operation.name, operation) for operation in trial.recorded.operations]
    for name, recorded in of:
        for bucket in _buckets(recorded):
            yield *same, name, *bucket


def _buckets(of: Recorded | Operation) -> Iterator[tuple[Any, ...]]:
    for time in _TIMES:
        if (histogram := getattr(of, time)) is None:
            continue
        for index, count in zip(histogram.indices.tolist(), histogram.counts.tolist(), strict=True):
            lowest_ns, width_ns = bucket_bounds(index)
            yield time, lowest_ns / 1000, (lowest_ns + width_ns) / 1000, count
