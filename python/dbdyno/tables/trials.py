"""One row a trial: what it was of, what it came to, and what limited it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbdyno.report.core.documents import RunDocument
from dbdyno.report.core.loads import load_of
from dbdyno.report.core.times import TimedDocument, Times
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.document import document
from dbdyno.results.model import Run
from dbdyno.tables.redaction import redacted_setting
from dbdyno.tables.table import Column, Table

STATISTICS = ("mean", "p50", "p95", "p99", "p999", "max")
_TIMES = {"service_time": "sent to answered", "response_time": "due to answered, in an open loop"}

IDENTITY = (
    Column("run", "text", "name of the run"),
    Column("trial", "text", "name of the trial"),
    Column("label", "text", "system, as tables and plots call it"),
    Column("workload", "text", "workload with its options"),
    Column("clients", "whole", "number of clients"),
    Column("rate", "text", "rate of an open loop in words; unknown in a closed one"),
    Column("repeat", "whole", "which repetition, from 1"),
)
"""The columns that every table begins with."""

_ABOUT = (
    Column("experiment", "text", "name of the experiment"),
    Column("started_unix_s", "number", "when the run began, in seconds since the epoch"),
    Column("dbdyno", "text", "version of dbdyno that ran it"),
    Column("system", "text", "system, without settings"),
    Column("versions", "text", "its servers or library, with versions"),
    Column("settings", "text", "settings that the experiment gives"),
    Column("client", "text", "what drove it: native, or a client library"),
    Column("rows", "whole", "rows per table"),
    Column("pipeline", "whole", "requests that a client sends at once"),
    Column("network_delay_us", "whole", "delay between an answer and the next request"),
    Column("rate_per_s", "number", "highest rate of an open loop"),
    Column("state", "text", "complete, failed, interrupted or not reached"),
    Column("reason", "text", "why it is not complete"),
    Column("durability", "text", "durability class, D0 to D3"),
    Column("embedded", "flag", "the store runs inside the load client"),
)
_FIGURES = (
    Column("seconds", "number", "measured seconds, without the warm-up"),
    Column("transactions", "whole", "transactions completed in them"),
    Column("throughput_per_s", "number", "transactions per second"),
    Column("client_limited", "flag", "throughput is a lower bound: the client was the limit"),
    Column("offered_per_s", "number", "transactions due per second, in an open loop"),
    Column("followed", "flag", "the store kept up with the open loop"),
    Column("errors", "whole", "failed operations, warm-up included"),
    Column("mismatches", "whole", "rows that were not what was written, warm-up included"),
    Column("reads_verified", "whole", "rows read and verified, warm-up included"),
    *(
        Column(f"{time}_{statistic}_us", "number", f"{what}, {statistic}")
        for time, what in _TIMES.items()
        for statistic in STATISTICS
    ),
)
_CONCLUDED = (
    Column("limited_by", "text", "verdict: name of a limit, as in docs/what-limited-it.md"),
    Column("limit_confidence", "text", "confidence of the verdict"),
    Column("steady_state", "text", "class of the steady state"),
    Column("longest_stall_ms", "number", "longest stall; unknown if the load client does not record stalls"),
    Column("stalled_share", "number", "share of the measured time that stalls took, 0 to 1"),
    Column("client_cpu_us_per_transaction", "number", "CPU of the client per transaction"),
    Column("server_cpu_us_per_transaction", "number", "CPU of the servers per transaction"),
    Column("data_bytes", "whole", "data on disk at the end"),
)
COLUMNS = (*IDENTITY, *_ABOUT, *_FIGURES, *_CONCLUDED)


def trials_of(runs: Sequence[Run]) -> Table:
    """Return the trials of runs, those that were not reached too."""
    return Table("trials", COLUMNS, (row for run in runs for row in _rows(run)))


def identity(run: Run, trial: TrialDocument) -> tuple[Any, ...]:
    """Return the values of IDENTITY for a trial of `run`, given as its document (`dbdyno show --json`)."""
    rate = (trial.get("rate") or {}).get("words")
    return (name_of(run), *(trial[key] for key in ("trial", "label", "workload", "clients")), rate, trial["repeat"])


def name_of(run: Run) -> str:
    """Return the name of a run: as it says, else its folder's."""
    return run.facts.run or run.path.name


def times_us(of: TimedDocument) -> list[float | None]:
    """Return the statistics of both times of transactions or of an operation, in the order of the columns."""
    times: list[Times] = [of["service_time_us"], of.get("response_time_us") or {}]
    return [time.get(statistic) for time in times for statistic in STATISTICS]


def _rows(run: Run) -> list[list[Any]]:
    run_document = document(run, timelines=False)
    return [[*identity(run, trial), *_about(run_document, trial), *_figures(trial)] for trial in run_document["trials"]]


def _about(run: RunDocument, trial: TrialDocument) -> list[Any]:
    servers = [f"{server.get('name')} {server.get('version') or ''}".strip() for server in trial["servers"]]
    settings = [redacted_setting(*setting) for setting in (trial["settings"] or {}).items()]
    return [
        *(run["experiment"], run["started_unix_s"], run["dbdyno"]),
        trial["system"],
        ", ".join(servers) or None,
        " ".join(settings) or None,
        *(trial["client"], trial["rows"], trial["pipeline"], trial["network_delay_us"]),
        (load_of(trial).per_s or None) if trial["clients"] is not None else None,
        *(trial["state"], trial["reason"], trial["durability"], trial["embedded"]),
    ]


def _figures(trial: TrialDocument) -> list[Any]:
    verdict, stalls = trial["verdict"], trial["stability"]["stalls"]
    return [
        *(trial["seconds"], trial["transactions"], trial["throughput_per_s"], trial["client_limited"]),
        *(trial.get("offered_per_s"), trial.get("followed")),
        *(trial["errors"], trial["mismatches"], trial["reads_verified"]),
        *times_us(trial["transaction"]),
        *((verdict.limit, verdict.confidence) if verdict else (None, None)),
        trial["steady_state"]["class"],
        *((stalls["longest_ms"], stalls["share"]) if stalls else (None, None)),
        *(trial["client_cpu_us_per_transaction"], trial["server_cpu_us_per_transaction"]),
        trial["cost"]["bytes_on_disk"],
    ]
