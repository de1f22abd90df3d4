"""An analytic workload: a table loaded in bulk, and each of its queries asked cold, then hot; by dbdyno itself.

Single questions that take seconds need no load client. The records are still those of docs/contract.md, and a pass
through all queries is a transaction, so every reader of runs reads this one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from dbdyno.analytics.analysis import Analysis
from dbdyno.analytics.answers import Answer, difference, plain
from dbdyno.analytics.catalogue import ANALYSES
from dbdyno.analytics.files import BATCH_ROWS, Batch
from dbdyno.analytics.table import Query, Table
from dbdyno.conduct.context import Context, data_of
from dbdyno.conduct.kinds.base import WorkloadKind, refuse_keys, refuse_load
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.loading import Loaded
from dbdyno.conduct.observing import StageObserver, end_observing
from dbdyno.conduct.own_records import conclusion, hello
from dbdyno.conduct.streams import Streams
from dbdyno.conduct.trial import Prepared, judge_trial
from dbdyno.conduct.waiting import wait_for
from dbdyno.contract import ProgressRecord, Record
from dbdyno.errors import DbdynoError, RunFailed, UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.trials import Preparation, Trial
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.results.json_types import HOT_RUNS, LoadedStated, QueryStated, UnansweredStated
from dbdyno.results.write import Lines, write_trial
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.attached_analyst import AttachedAnalyst, marker_of
from dbdyno.systems.base import System
from dbdyno.systems.space import Space

STREAMS = "streams"
LOAD_TIMEOUT_S = 24 * 3600
DROP_CACHES = Path("/proc/sys/vm/drop_caches")

Result = TypeVar("Result")
Connection = TypeVar("Connection", Analyst, Streams)


class AnalysisKind(WorkloadKind):
    """A table loaded in bulk, and queries asked one at a time."""

    measures_load = True

    def refuse(self, experiment: Experiment, workload: WorkloadSpec) -> None:
        refuse_load(experiment, f"'{workload}' asks one query at a time, once cold and three times hot")
        refuse_keys({"restart": bool(experiment.restart)}, f"'{workload}' restarts its store for each query anyway")
        find_analysis(workload)

    def refuse_system(self, workload: WorkloadSpec, system: System) -> None:
        if streams_of(workload) > 1 and not system.several_analysts:
            raise UserError(f"options.{STREAMS}: '{system.spec.label}' has one connection; give {STREAMS} = 1")

    def space(self, experiment: Experiment, workload: WorkloadSpec, system: System) -> Space:
        """Return the room for the largest batch of files, and for the table that is made of all if it lies here."""
        analysis = find_analysis(workload)
        file_bytes = analysis.file_bytes(experiment.rows)
        batch_bytes = min(file_bytes, analysis.row_bytes * BATCH_ROWS)
        return Space(disk_bytes=batch_bytes + (0 if system.spec.attached else file_bytes * system.table_share))

    def load(self, context: Context, preparation: Preparation, system: System, folder: Path) -> Loaded:
        return load_table(context, preparation.workload, system, folder)

    def remove(self, context: Context, preparation: Preparation, system: System, folder: Path) -> None:
        del context, folder
        remove_table(preparation.workload, system)

    def run(self, context: Context, prepared: Prepared, trial: Trial) -> Iterator[Outcome]:
        yield run_analysis(context, prepared, trial)


def find_analysis(workload: WorkloadSpec) -> Analysis:
    """Return what an analytic workload is made of; raises UserError if its options name no files."""
    return ANALYSES[workload.name](workload.options)


def streams_of(workload: WorkloadSpec) -> int:
    """Return how many connections ask a hot query at once."""
    return int(workload.option(STREAMS)) if STREAMS in workload.definition.options else 1


def load_table(context: Context, workload: WorkloadSpec, system: System, folder: Path) -> Loaded:
    """Make and load the table; returns how that went. Only the store's own work is in `seconds`.

    Raises UserError for files that cannot be loaded, RunFailed if the store fails.
    """
    experiment = context.experiment
    analysis = find_analysis(workload)
    with (
        closing(Lines(folder / "records.jsonl")) as records,
        context.guard.scratch() as scratch,
        closing(system.analyst()) as analyst,
    ):
        spent = _Spent(context, analyst, system.spec.label)
        files = analysis.files(experiment.rows, experiment.seed, scratch, context.listener.said)
        marker = marker_of(context.folder.name, workload.name, experiment.rows)
        spent.on(lambda: _create(analyst, analysis.table, marker), LOAD_TIMEOUT_S)
        rows = _fill(context, spent, analysis.table, files, records)
        size_bytes = spent.on(lambda: analyst.finish(analysis.table), LOAD_TIMEOUT_S)
        loaded: LoadedStated = {
            "rows": rows,
            "seconds": round(spent.seconds, 3),
            "rows_per_s": round(rows / spent.seconds, 1),
            "by": analyst.by,
            "size_bytes": size_bytes,
            "source": analysis.source(experiment.rows, experiment.seed),
        }
        records.append_object({"record": "phase", "phase": "load", "state": "end", **loaded})
        records.append_object({"record": "end", "status": "complete", "reason": None})
    return Loaded(table=loaded)


def _create(analyst: Analyst, table: Table, marker: str) -> None:
    """Make the empty table; on somebody else's server under dbdyno's marker, in place of an earlier one of dbdyno's."""
    if isinstance(analyst, AttachedAnalyst):
        analyst.claim(table)
        analyst.create_marked(table, marker)
    else:
        analyst.create(table)


def remove_table(workload: WorkloadSpec, system: System) -> None:
    """Remove the table that was made on somebody else's server; raises RunFailed if it is left there."""
    with closing(system.analyst()) as analyst:
        try:
            if isinstance(analyst, AttachedAnalyst):
                analyst.remove(find_analysis(workload).table)
        except analyst.error as error:
            raise RunFailed(
                f"{system.spec.label}: what dbdyno made there could not be removed ({error}); see `dbdyno clean`"
            ) from None


def _fill(context: Context, spent: _Spent[Analyst], table: Table, batches: Iterator[Batch], records: Lines) -> int:
    """Load batch after batch, removing what was loaded; returns how many rows there are."""
    rows, total = 0, context.experiment.rows
    # A batch that is being made is soon made: there is nothing to cancel.
    while batch := wait_for(context, lambda: next(batches, None), lambda: None, LOAD_TIMEOUT_S):
        paths = [path for path, _ in batch]
        spent.on(partial(spent.analyst.load, table, paths), LOAD_TIMEOUT_S)
        rows += sum(count for _, count in batch)
        for path in paths:
            path.unlink()
        record: ProgressRecord = {
            "record": "progress",
            "phase": "load",
            "done": rows,
            "total": max(total, rows),
            "unit": "rows",
            "rows_per_s": rows / spent.seconds,
            "left_s": None,
        }
        records.append_object(record)
        context.listener.record_came(record)
    (counted,) = spent.on(lambda: spent.analyst.ask(f"SELECT COUNT(*) FROM {table.name}"), LOAD_TIMEOUT_S)[0]
    if counted != rows:
        raise RunFailed(f"{spent.label}: {rows:,} rows were loaded, but the table has {counted:,}")
    return rows


class _Spent(Generic[Connection]):
    """Does a store's work, and adds up its time in seconds."""

    def __init__(self, context: Context, analyst: Connection, label: str) -> None:
        self.analyst: Connection = analyst
        self.label, self._context = label, context
        self.seconds = 0.0

    def on(self, work: Callable[[], Result], timeout_s: float) -> Result:
        """Return what the work does; raises RunFailed if the store fails, or takes longer than that."""
        began = time.perf_counter()
        try:
            return wait_for(self._context, work, self.analyst.cancel, timeout_s)
        except TimeoutError:
            raise RunFailed(f"{self.label}: no answer within {timeout_s:,.0f} s") from None
        except self.analyst.error as error:
            raise RunFailed(f"{self.label}: {error}") from None
        finally:
            self.seconds += time.perf_counter() - began


@dataclass(frozen=True)
class Asked:
    """A query as it was asked of a store; times in seconds. differs: from another store's answer, how and whose.

    cold_unix_s, hot_unix_s: when it began to be asked so and when that ended, in seconds since the epoch.
    """

    name: str
    what: str
    sql: str
    columns: int | None
    cold_s: float
    hot_s: list[float]
    cold_unix_s: list[float]
    hot_unix_s: list[float]
    answer: Answer
    differs: str | None

    def stated(self) -> QueryStated:
        """Return it as `trial.json` and its record have it."""
        return {
            "name": self.name,
            "what": self.what,
            "sql": self.sql,
            "columns": self.columns,
            "cold_s": self.cold_s,
            "hot_s": self.hot_s,
            "cold_unix_s": self.cold_unix_s,
            "hot_unix_s": self.hot_unix_s,
            "answer": self.answer,
            "differs": self.differs,
        }


def run_analysis(context: Context, prepared: Prepared, trial: Trial) -> Outcome:
    """Ask all queries, and write the trial's folder; a query without an answer is marked, and the others go on.

    A store that cannot be started again ends the trial, not the run.
    """
    context.listener.trial_begins(trial)
    folder = context.folder.trial(trial.name)
    facts = replace(
        prepared.describe(context, trial),
        seconds=None,
        cache_state=_cold_state(prepared.system),
        server_pids=prepared.system.server_pids(),
    )
    write_trial(folder, facts)
    asked: list[Asked] = []
    unanswered: list[UnansweredStated] = []
    observer = StageObserver(context, prepared.system, folder)
    with closing(Lines(folder / "records.jsonl")) as records:
        analysis = find_analysis(trial.workload)
        every = analysis.queries(facts.rows or 0)
        records.append_object(hello("pass", [(query.name, "analyse", analysis.table.name) for query in every]))
        records.append_object({"record": "phase", "phase": "run", "state": "begin", "at_unix_s": time.time()})
        try:
            for query in every:
                _forget(prepared.system)
                try:
                    asked.append(_ask(context, prepared.system, query, trial, observer))
                except RunFailed as no_answer:
                    unanswered.append(_unanswered(query, str(no_answer)))
                    continue
                records.append_object({"record": "query", **asked[-1].stated()})
            state, reason = _judge(asked, unanswered)
        except DbdynoError as failure:
            state, reason = "failed", str(failure)
        for record in _records(asked, unanswered, len(every), reason if state == "failed" else None):
            records.append_object(record)
    queries = [query.stated() for query in asked]
    facts = replace(
        facts,
        ended_unix_s=time.time(),
        state=state,
        reason=reason,
        analysis={
            "cold": _cold_words(prepared.system),
            "streams": streams_of(trial.workload),
            "queries": queries,
            "unanswered": unanswered,
        },
    )
    watched = observer if context.experiment.observe else None
    write_trial(folder, end_observing(context, watched, folder, facts))
    judge_trial(folder)
    hot_s = sum(sum(query.hot_s) for query in asked)
    outcome = Outcome(trial, state, reason, HOT_RUNS if len(asked) == len(every) else 0, hot_s, {})
    context.listener.trial_ended(outcome)
    return outcome


def _unanswered(query: Query, reason: str) -> UnansweredStated:
    """Return a query that a store failed, or did not answer in time; reason: in its words."""
    return {"name": query.name, "what": query.what, "sql": query.sql, "reason": reason}


def _ask(context: Context, system: System, query: Query, trial: Trial, observer: StageObserver) -> Asked:
    """Ask a query of a store that was made cold, then again and again; raises RunFailed if it has no answer."""
    label = trial.system.label
    times: list[float] = []
    answers: list[Answer] = []
    spans: list[list[float]] = []
    with closing(Streams(system, streams_of(trial.workload))) as streams, observer.watching(streams.pid):
        for ask in (streams.ask_once, *[streams.ask] * HOT_RUNS):
            spent = _Spent(context, streams, f"{label}: {query.name}")
            asked, began = partial(ask, query.sql), time.time()
            every = spent.on(asked, context.experiment.operation_timeout_seconds)
            spans.append([round(began, 3), round(time.time(), 3)])
            times.append(spent.seconds)
            answers.extend(map(plain, every))
    key = data_of(context.experiment, trial.workload), query.name
    first, expected = context.answers.setdefault(key, (label, answers[0]))
    differs = [
        *(f"asked again: {how}" for again in answers[1:] if (how := difference(again, answers[0]))),
        *([f"{how} of {first}"] if (how := difference(answers[0], expected)) else []),
    ]
    answer_first = differs[0] if differs else None
    hot = [spans[1][0], spans[-1][1]]
    return Asked(
        *(query.name, query.what, query.sql, query.columns),
        *(times[0], times[1:], spans[0], hot),
        *(answers[0], answer_first),
    )


def _forget(system: System) -> None:
    """Start a store anew with nothing in memory; somebody else's goes on as it is."""
    if system.spec.attached:
        return
    system.restart()
    # What is not yet on the disk the kernel cannot forget.
    if not os.access(DROP_CACHES, os.W_OK):
        return
    for path in (path for folder in system.data_directories() for path in folder.rglob("*") if path.is_file()):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    DROP_CACHES.write_text("3")


def _cold_state(system: System) -> str | None:
    """Return the cache state when a query is asked first, None if unknown (docs/statistics.md, section 7)."""
    if system.spec.attached:
        return None
    return "cold" if os.access(DROP_CACHES, os.W_OK) else "lukewarm"


def _cold_words(system: System) -> str:
    state = _cold_state(system)
    if state is None:
        return "the first time after the load, or after the query before: dbdyno restarts no server of others"
    if state == "cold":
        return "the store started anew, and the kernel's page cache dropped, before each query"
    return "the store started anew before each query; files may have been in the page cache, which only root can drop"


def _judge(asked: list[Asked], unanswered: list[UnansweredStated]) -> tuple[str, str | None]:
    differing = [query for query in asked if query.differs]
    every = len(asked) + len(unanswered)
    said = []
    if unanswered:
        said.append(f"{len(unanswered)} of {every} queries have no answer; {unanswered[0]['reason']}")
    if differing:
        said.append(f"{len(differing)} of {every} answers differ; {differing[0].name}: {differing[0].differs}")
    return ("failed", "; ".join(said)) if said else ("complete", None)


def _records(
    asked: list[Asked], unanswered: list[UnansweredStated], every: int, failure: str | None
) -> Iterator[Record]:
    """Yield the records after the queries: a pass cold, marked as warm-up, and the passes hot."""
    passes = [{query.name: query.cold_s for query in asked}]
    passes += [{query.name: query.hot_s[run] for query in asked} for run in range(HOT_RUNS)]
    checks = {f"{query.name}: the same answer of every store": query.differs for query in asked}
    checks |= {f"{query['name']}: an answer": query["reason"] for query in unanswered}
    return conclusion(passes, len(asked) == every, checks, failure, warmup_passes=1)
