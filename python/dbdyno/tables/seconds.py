"""One row a second of a trial, warm-up included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dbdyno.report.document import in_reading_order
from dbdyno.results.model import Run, Trial
from dbdyno.tables.table import Column, Table
from dbdyno.tables.trials import IDENTITY, name_of

COLUMNS = (
    *IDENTITY,
    Column("second", "whole", "from the start of the load, from 0"),
    Column("at_unix_s", "number", "when it began, in seconds since the epoch"),
    Column("warmup", "flag", "in no figure of the trial"),
    Column("seconds", "number", "its length; below 1 only if the last one was cut short"),
    Column("connected", "whole", "clients connected"),
    Column("scheduled", "whole", "transactions due, in an open loop"),
    Column("transactions", "whole", "transactions completed"),
    Column("transactions_per_s", "number", "transactions over its length"),
    Column("failed", "whole", "transactions failed"),
    Column("errors", "whole", "operations failed"),
    Column("p50_us", "number", "median: response time in an open loop, else service time"),
    Column("p99_us", "number", "99th percentile of the same; unknown with fewer than ten samples beyond it"),
    Column("max_us", "number", "longest of the same"),
    Column("longest_stall_ms", "number", "longest stall that touches it; unknown in the warm-up"),
    Column("stalled_share", "number", "share of it that stalls took, 0 to 1"),
    Column("reads_verified", "whole", "rows read and verified"),
    Column("mismatches", "whole", "rows that were not what was written"),
    Column("client_cpu_s", "number", "processor seconds of the load client"),
)


def seconds_of(runs: Sequence[Run]) -> Table:
    """Return every second of the trials of runs."""
    rows = ((run, trial) for run in runs for trial in in_reading_order(run))
    return Table("seconds", COLUMNS, (row for run, trial in rows for row in _rows(run, trial)))


def identity_of(run: Run, trial: Trial) -> tuple[Any, ...]:
    """Return the values of IDENTITY for a trial."""
    facts = trial.facts
    rate = (facts.rate or {}).get("words")
    return name_of(run), trial.name, trial.label, facts.workload, facts.clients, rate, facts.repeat


def _rows(run: Run, trial: Trial) -> Iterator[tuple[Any, ...]]:
    recorded, same = trial.recorded, identity_of(run, trial)
    at_unix_s = recorded.run_began_unix_s
    stalled = iter(recorded.stalls.per_second if recorded.stalls else ())
    for interval in recorded.intervals:
        # Stalls are known for the measured seconds alone.
        stall = next(stalled, None) if interval.measured else None
        yield (
            *same,
            interval.second,
            at_unix_s,
            not interval.measured,
            interval.seconds,
            interval.connected,
            interval.scheduled,
            interval.completed,
            interval.completed / interval.seconds if interval.seconds else None,
            interval.failed,
            sum(interval.errors.values()),
            *(None if time_ns is None else time_ns / 1000 for time_ns in (interval.p50_ns, interval.p99_ns)),
            interval.max_ns / 1000 if interval.completed else None,
            stall and stall.longest_ms,
            stall and stall.share,
            interval.reads_verified,
            interval.mismatches,
            interval.client_cpu_s,
        )
        at_unix_s = None if at_unix_s is None else at_unix_s + interval.seconds
