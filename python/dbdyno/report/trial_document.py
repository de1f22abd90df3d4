"""A trial as one document: its plan, its figures, what it was run on and what was concluded of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dbdyno.report.core.recordings import old_rows
from dbdyno.report.core.times import recorded_times_us
from dbdyno.report.core.words import hit_ratio
from dbdyno.report.sections.client_groups import pace_of
from dbdyno.report.sections.cost import cost
from dbdyno.report.sections.events import event_documents
from dbdyno.results.model import WHOLE_SECOND, Interval, Operation, Recorded, Run, Trial
from dbdyno.results.operations import KIND
from dbdyno.stats.warm_up import warm_up
from dbdyno.verdict.judge import judged

if TYPE_CHECKING:
    from dbdyno.contract import TotalCountedRecord, TotalTransactionsRecord
    from dbdyno.report.core.event_documents import EventsDocument
    from dbdyno.report.core.trial_documents import (
        AskedDocument,
        ConcludedDocument,
        EndingDocument,
        FiguresDocument,
        HostsDocument,
        OldRowsSecondDocument,
        OpenLoopDocument,
        OperationDocument,
        PerMinuteDocument,
        PreparedDocument,
        ProfiledSecondDocument,
        QueryVerdictsDocument,
        RecordedDocument,
        ReplicasDocument,
        SecondDocument,
        StabilityDocument,
        StallSecondDocument,
        SteadyStateDocument,
        SurroundingsDocument,
        TimelineDocument,
        TransactionDocument,
        TrialDocument,
        VariantDocument,
        WarmUpDocument,
    )
    from dbdyno.results.facts import TrialFacts
    from dbdyno.results.json_types import CountersStated
    from dbdyno.stats.stalls import StallSecond

_Number = TypeVar("_Number", int, float)

LATE_S = 300
"""The published runs of `db-stress` were compared by the mean of their last seconds, this many."""


def trial_document(trial: Trial, run: Run, timelines: bool) -> TrialDocument:
    """Return a trial of a run; timelines: with every second of it, which takes longer."""
    costs = cost(trial)
    timeline: TimelineDocument = {"timeline": _timeline(trial)} if timelines else {}
    hosts: HostsDocument = {"hosts": list(trial.facts.hosts)} if trial.facts.hosts else {}
    events: EventsDocument = {"events": event_documents(trial)} if trial.facts.events else {}
    replicas: ReplicasDocument = {"replicas": list(trial.facts.replicas)} if trial.facts.replicas else {}
    return {
        **_asked(trial),
        **pace_of(trial),
        **_figures(trial),
        "client_cpu_us_per_transaction": costs["client_cpu_us"],
        "server_cpu_us_per_transaction": costs["server_cpu_us"],
        **_open_loop(trial),
        **_variant(trial),
        "client_ceiling_per_s": trial.facts.client_ceiling_per_s,
        "load_threads": [thread._asdict() for thread in trial.recorded.load_threads],
        **_concluded(trial),
        **_recorded(trial.recorded),
        **_surroundings(trial, run),
        **hosts,
        **events,
        **replicas,
        "cost": costs,
        **timeline,
    }


def _asked(trial: Trial) -> AskedDocument:
    """Return the plan of a trial, and how it ended."""
    facts = trial.facts
    hello = trial.recorded.hello
    return {
        "trial": trial.name,
        "system": trial.system,
        "label": trial.label,
        "client": facts.client,
        "client_library": hello.get("library") if hello else None,
        "client_own_cpu_us_per_transaction": hello.get("own_cpu_us_per_transaction") if hello else None,
        "state": trial.state,
        "reason": trial.reason,
        "warnings": list(trial.warnings),
        "settings": facts.settings,
        "workload": facts.workload,
        "options": facts.options,
        "rows": facts.rows,
        "clients": facts.clients,
        "repeat": facts.repeat,
        "attached": facts.attached,
        "embedded": trial.embedded,
        "pipeline": facts.pipeline,
        "network_delay_us": facts.network_delay_us,
        "warmup": facts.warmup,
        "data": facts.data,
        "cache_state": facts.cache_state,
        "warm_up": _warm_up(trial),
        "rate": facts.rate,
        "durability": facts.promised.level if trial.about else None,
        "durability_reason": facts.promised.reason,
        "loaded": facts.loaded,
        "analysis": facts.analysis,
        "crash": facts.crash,
        "copy": facts.copy,
    }


def _recorded(recorded: Recorded) -> RecordedDocument:
    """Return the records of the load client."""
    return {
        "transaction": _transaction(recorded),
        "operations": {operation.name: _operation(operation, recorded) for operation in recorded.operations},
        "stability": _stability(recorded),
        "ending": _ending(recorded),
        "steady_state": _steady_state(recorded),
        "checks": [{k: v for k, v in check.items() if k != "record"} for check in recorded.checks],
        "first_errors": list(recorded.errors),
        "first_mismatches": list(recorded.mismatches),
    }


def _surroundings(trial: Trial, run: Run) -> SurroundingsDocument:
    """Return where a trial ran, and what was observed there."""
    facts, recorded = trial.facts, trial.recorded
    preparation = run.preparations.get(str(facts.preparation))
    load: PreparedDocument | None = None
    if preparation:
        load = {"rows": preparation.rows, "seconds": preparation.load_seconds}
    return {
        "servers": list(facts.servers or ()),
        "layout": recorded.hello.get("layout") if recorded.hello else None,
        "client_cpus": facts.client_cpus,
        "server_cpus": facts.server_cpus,
        "memory_limit_bytes": facts.memory_limit_bytes,
        "load": load,
        "observer_cpu_s": facts.observer_cpu_s,
        "observer_cpu_share": _observer_share(facts),
        "not_seen": list(facts.not_seen or ()),
        "processes": [
            {
                "process": used.process,
                "cores": used.cores,
                "resident_bytes": used.resident_bytes,
                "private_bytes": used.private_bytes,
            }
            for used in trial.usage
        ],
        "server_counters": _counted(facts.server_counters or {}),
    }


def _concluded(trial: Trial) -> ConcludedDocument:
    concluded = judged(trial)
    of_queries: QueryVerdictsDocument = {"query_verdicts": concluded.queries} if concluded.queries else {}
    return {
        "client_limited": concluded.client_limited is not None,
        "client_limited_evidence": concluded.client_limited,
        "others_cores": concluded.others_cores,
        "verdict": concluded.verdict,
        "time_budget": concluded.time_budget,
        "locks": concluded.locks,
        **of_queries,
    }


def _timeline(trial: Trial) -> list[SecondDocument]:
    recorded = trial.recorded
    stalled = iter(recorded.stalls.per_second if recorded.stalls else ())
    old = _old_rows(trial)
    return [
        _second(interval, next(stalled, None) if interval.measured else None, old.get(interval.second))
        for interval in recorded.intervals
    ]


def _old_rows(trial: Trial) -> dict[int, float]:
    """Return by second the old row versions that were last observed in it."""
    times, counts = old_rows(trial) or ((), ())
    return {int(time): count for time, count in zip(times, counts, strict=True)}


def _figures(trial: Trial) -> FiguresDocument:
    """Return the figures of a trial's transactions as a whole."""
    recorded = trial.recorded
    errors = _added(interval.errors for interval in recorded.intervals)
    return {
        "seconds": recorded.seconds,
        "warmup_seconds": sum(interval.seconds for interval in recorded.intervals if interval.warmup),
        "transactions": recorded.completed,
        "throughput_per_s": recorded.throughput_per_s,
        "errors": sum(errors.values()),
        "errors_by_kind": errors,
        "failed": sum(interval.failed for interval in recorded.intervals),
        "conflicts": _conflicts(recorded.total["transactions"] if recorded.total else None),
        "rows_read_per_s": _rows_read_per_s(recorded),
        "reads_verified": sum(interval.reads_verified for interval in recorded.intervals),
        "mismatches": sum(interval.mismatches for interval in recorded.intervals),
        "moved_keys": recorded.total.get("moved_keys") if recorded.total else None,
        "counters": _added(interval.counters for interval in recorded.measured),
    }


def _rows_read_per_s(recorded: Recorded) -> float | None:
    """Return rows read and verified per second; `None` if the client did not verify, and so did not count them."""
    rows = sum(interval.reads_verified for interval in recorded.measured)
    return rows / recorded.seconds if rows and recorded.seconds else None


def _warm_up(trial: Trial) -> WarmUpDocument | None:
    """Return the warm-up after a restart, counted from the first second of the load; `None` without a restart.

    answered_s: seconds from the store's first answer to the load, in which it could reload its cache.
    """
    recorded = trial.recorded
    whole = [interval for interval in recorded.intervals if interval.seconds > WHOLE_SECOND]
    warm = (
        warm_up(np.array([interval.completed / interval.seconds for interval in whole]))
        if trial.facts.restart
        else None
    )
    if warm is None:
        return None
    answered, began = trial.facts.answered_unix_s, recorded.run_began_unix_s
    return {
        "warm_per_s": warm.warm_per_s,
        "seconds": warm.seconds,
        "first_per_s": warm.first_per_s,
        "answered_s": round(began - answered, 2) if answered and began else None,
    }


def _variant(trial: Trial) -> VariantDocument:
    return {"variant": trial.facts.variant} if trial.facts.variant else {}


def _open_loop(trial: Trial) -> OpenLoopDocument:
    """Return the offered rate and what became of it; empty for a closed loop. Arrivals count from the warm-up on.

    Each value is `None` if the trial ended before anything was measured.
    """
    recorded = trial.recorded
    if recorded.offered is None and not trial.facts.rate:
        return {}
    transactions = recorded.total["transactions"] if recorded.total else None
    return {
        "offered_per_s": recorded.offered_per_s,
        "achieved_per_s": recorded.throughput_per_s,
        "followed": recorded.followed,
        "late": transactions.get("late") if transactions else None,
        "unfinished": transactions["unfinished"] if transactions else None,
        "never_begun": transactions.get("never_begun") if transactions else None,
    }


def _observer_share(facts: TrialFacts) -> float | None:
    """Return the share of one processor that observing took over the whole trial; `None` if nothing was observed."""
    used_s, begun, ended = facts.observer_cpu_s, facts.started_unix_s, facts.ended_unix_s
    return None if used_s is None or begun is None or ended is None or ended <= begun else used_s / (ended - begun)


def _added(counts: Iterable[Mapping[str, _Number]]) -> dict[str, _Number]:
    total: dict[str, _Number] = {}
    for by_name in counts:
        for name, count in by_name.items():
            total[name] = total[name] + count if name in total else count
    return total


def _transaction(recorded: Recorded) -> TransactionDocument:
    return {
        "name": recorded.hello.get("transaction") if recorded.hello else None,
        **recorded_times_us(recorded),
    }


def _operation(operation: Operation, recorded: Recorded) -> OperationDocument:
    """Return the figures of an operation; for transactions of one kind also their number per minute."""
    per_minute: PerMinuteDocument = {}
    if operation.operation == KIND and recorded.seconds > 0:
        per_minute = {"per_minute": 60 * operation.service_time.count / recorded.seconds}
    return {
        "operation": operation.operation,
        "table": operation.table,
        "count": operation.service_time.count,
        "errors": operation.failed,
        "conflicts": _conflicts(recorded.total["operations"].get(operation.name) if recorded.total else None),
        **per_minute,
        **recorded_times_us(operation),
    }


def _conflicts(counted: TotalTransactionsRecord | TotalCountedRecord | None) -> int:
    """Return how many conflicts with another transaction led to a retry, over the whole run."""
    return int(counted.get("conflicts", 0)) if counted else 0


def _stability(recorded: Recorded) -> StabilityDocument:
    p99_ns = [interval.p99_ns for interval in recorded.whole_seconds if interval.p99_ns is not None]
    even = recorded.stability
    return {
        "seconds": even.seconds,
        "longest_without_completion_s": even.longest_without_completion_s,
        "floor": even.floor,
        "seconds_below_half": even.seconds_below_half,
        "seconds_below_tenth": even.seconds_below_tenth,
        "variation_1s": even.variation_1s,
        "variation_10s": even.variation_10s,
        "worst_second_p99_us": max(p99_ns) / 1000 if p99_ns else None,
        "stalls": recorded.stalls.figures() if recorded.stalls else None,
    }


def _ending(recorded: Recorded) -> EndingDocument:
    """Return the mean of the last third, at most LATE_S: it shows whether a store became slower."""
    last = recorded.whole_seconds[-max(1, min(LATE_S, len(recorded.whole_seconds) // 3)) :]
    seconds = sum(interval.seconds for interval in last)
    rate = sum(interval.completed for interval in last) / seconds if seconds else None
    return {"seconds": round(seconds), "throughput_per_s": rate}


def _steady_state(recorded: Recorded) -> SteadyStateDocument:
    """Return when throughput became steady; `cut_s` counts from the end of the configured warm-up.

    applied: the figures begin at the cut (`warmup = "auto"`).
    """
    steady = recorded.steady
    return {
        "class": steady.kind,
        "steady": steady.steady,
        "cut_s": steady.cut_s,
        "kept": steady.kept,
        "period_s": steady.period_s,
        "drift": steady.drift,
        "drift_per_hour": steady.drift_per_hour,
        "mean_per_s": steady.mean_per_s,
        "applied": recorded.cut,
    }


def _second(interval: Interval, stalled: StallSecond | None, old: float | None) -> SecondDocument:
    stall: StallSecondDocument = {}
    if stalled:
        stall = {"longest_stall_ms": stalled.longest_ms, "stalled_share": stalled.share}
    profiled: ProfiledSecondDocument = {"profiled": True} if interval.profiled else {}
    versions: OldRowsSecondDocument = {} if old is None else {"old_rows": old}
    return {
        "second": interval.second,
        "transactions": interval.completed,
        "errors": sum(interval.errors.values()),
        "p50_us": _us(interval.p50_ns),
        "p95_us": _us(interval.p95_ns),
        "p99_us": _us(interval.p99_ns),
        "p999_us": _us(interval.p999_ns),
        "hit_ratio": hit_ratio({"counters": interval.counters}),
        "warmup": interval.warmup,
        "seconds": interval.seconds,
        "connected": interval.connected,
        **stall,
        **profiled,
        **versions,
    }


def _us(time_ns: float | None) -> float | None:
    return None if time_ns is None else time_ns / 1000


def _counted(counters: Mapping[str, CountersStated]) -> dict[str, dict[str, float]]:
    """Return by how much each server's own numeric counters rose while the load client ran."""
    rose: dict[str, dict[str, float]] = {}
    for server, taken in counters.items():
        before, after = taken.get("before") or {}, taken.get("after") or {}
        rose[server] = {
            name: after[name] - before[name]
            for name in after
            if isinstance(after[name], int | float) and isinstance(before.get(name), int | float)
        }
    return rose
