"""The limit of each query of an analysis, from what was observed while it was asked hot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from dbdyno.results.model import Interval, ObservedTrial, Trial
from dbdyno.verdict.budget import time_budget
from dbdyno.verdict.decision import limited
from dbdyno.verdict.evidence import Measured
from dbdyno.verdict.limits import STALLS, UNEXPLAINED
from dbdyno.verdict.sentence import verdict_of

if TYPE_CHECKING:
    from dbdyno.results.conclusions import Verdict
    from dbdyno.results.json_types import QueryStated

ENOUGH_SAMPLES = 2
"""Samples that a query's hot time must have: its figures are else those of the time around it."""
_NO_EVIDENCE = frozenset({UNEXPLAINED, STALLS})
"""Verdicts that say that no observation explains it."""


def verdicts_of_queries(trial: Trial) -> dict[str, Verdict]:
    """Return the verdict on each query of an analysis, by its name; none if no observation says what limited it.

    A query whose hot time was too short has none, nor has one of a run that does not say when it asked.
    """
    queries = trial.facts.analysis["queries"] if trial.facts.analysis else ()
    return {query["name"]: verdict for query in queries for verdict in _verdict(trial, query)}


def _verdict(trial: Trial, query: QueryStated) -> Iterator[Verdict]:
    own = _of_query(trial, query)
    budget = time_budget(own) if own else None
    if own is None or budget is None:
        return
    # The rules inside the engine count per transaction, and a query does the work of many.
    decided = limited(own, budget, inside=False)
    if decided.limit not in _NO_EVIDENCE:
        yield verdict_of(own, decided)


def _of_query(trial: Trial, query: QueryStated) -> Trial | None:
    """Return a query's hot time as a trial whose clients are its streams; `None` if it was not observed enough."""
    begin, end = query.get("hot_unix_s") or (0.0, 0.0)
    observations = trial.observations
    if observations is None or observations.within(begin, end).sum() < ENOUGH_SAMPLES:
        return None
    streams = trial.facts.analysis.get("streams", 1) if trial.facts.analysis else 1
    recorded = replace(
        trial.recorded,
        run_began_unix_s=begin,
        hot_unix_s=(),
        intervals=(_interval(end - begin, streams, len(query["hot_s"])),),
    )
    same = {kept.name: getattr(trial, kept.name) for kept in fields(Trial)}
    changed = {"recorded": recorded, "about": {**trial.about, "clients": streams}}
    own = ObservedTrial(**same | changed, samples=replace(observations, left_out=()))
    measured = Measured.of(own)
    client_cores = measured.cores(("client",)) if measured else None
    with_client = recorded.intervals[0]._replace(client_cpu_s=(client_cores or 0.0) * (end - begin))
    return replace(own, recorded=replace(recorded, intervals=(with_client,)))


def _interval(seconds: float, streams: int, times: int) -> Interval:
    """Return the interval in which each stream asked a query so many times."""
    return Interval(
        second=0,
        warmup=False,
        seconds=seconds,
        connected=streams,
        completed=streams * times,
        failed=0,
        p50_ns=None,
        p95_ns=None,
        p99_ns=None,
        p999_ns=None,
        max_ns=0,
        errors={},
        reads_verified=0,
        mismatches=0,
        client_cpu_s=0.0,
        counters={},
    )
