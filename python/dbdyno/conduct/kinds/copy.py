"""A trial of `dump-restore`: a store's own tools dump its tables and restore them beside; then both are compared.

To call a program and wait for it needs no load client. The records are still those of docs/contract.md, and one copy is
a transaction of two operations, dump and restore.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from dbdyno.conduct.context import Context
from dbdyno.conduct.identity import compare_definitions, compare_rows
from dbdyno.conduct.kinds.base import WorkloadKind, refuse_load
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.observing import AnyObserver, end_observing, observer_of
from dbdyno.conduct.own_records import conclusion, hello
from dbdyno.conduct.tools import TIMEOUT_S, Ran, Tools
from dbdyno.conduct.trial import Prepared, judge_trial
from dbdyno.conduct.waiting import wait_for
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.trials import Trial
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.results.json_types import CopyStated, CopyStepStated
from dbdyno.results.write import Lines, write_trial
from dbdyno.systems.base import System
from dbdyno.systems.copier import Copier
from dbdyno.systems.space import Space

Result = TypeVar("Result")

COPY_ROOM = 3
"""The tables, their dump, and the copy; a dump is about as large as the tables: it has quotes, and no indexes."""


class CopyKind(WorkloadKind):
    """A dump and a restore of all tables by the store's own tools."""

    def refuse(self, experiment: Experiment, workload: WorkloadSpec) -> None:
        refuse_load(experiment, f"'{workload}' copies tables with tools, options.workers in parallel")
        if attached := [spec.label for spec in experiment.system if spec.attached]:
            raise UserError(
                f"{attached[0]}: '{workload}' makes a database beside the tables: give one that dbdyno starts"
            )

    def refuse_system(self, workload: WorkloadSpec, system: System) -> None:
        """Raise UserError if the system has no such tool, or its tool has no workers."""
        (tool, workers), label = tool_of(workload), system.spec.label
        if tool not in system.copy_tools:
            there = ", ".join(system.copy_tools)
            raise UserError(f"options.tool: '{tool}' does not copy '{label}'; give one of {there}")
        if workers > 1 and not system.copy_tools[tool].parallel:
            raise UserError(f"options.workers: '{label}' is copied by one worker; give workers = 1")

    def missing(self, workload: WorkloadSpec, system: System) -> str | None:
        return system.missing_tool(tool_of(workload)[0])

    def space(self, experiment: Experiment, workload: WorkloadSpec, system: System) -> Space:
        """Return the room for the tables, their dump and their copy."""
        rows = experiment.rows
        needed = system.space(workload.records(rows), workload.data_bytes(rows) or 0)
        return Space(needed.disk_bytes * COPY_ROOM, needed.memory_bytes)

    def run(self, context: Context, prepared: Prepared, trial: Trial) -> Iterator[Outcome]:
        yield run_copy(context, prepared, trial)


def tool_of(workload: WorkloadSpec) -> tuple[str, int]:
    """Return the tool that copies and the number of its workers."""
    return workload.option("tool"), int(workload.option("workers"))


@dataclass
class Copied:
    """A copy as far as it got. rows: of each table. differs: of each table compared, how."""

    rows: dict[str, int] = field(default_factory=dict)
    dump: Ran | None = None
    dump_bytes: int = 0
    table_bytes: dict[str, int] = field(default_factory=dict)
    restore: Ran | None = None
    differs: dict[str, list[str]] = field(default_factory=dict)
    compared_s: float | None = None


def run_copy(context: Context, prepared: Prepared, trial: Trial) -> Outcome:
    """Dump, restore, compare, and write the trial's folder; a tool that fails makes the trial failed, not the run."""
    context.listener.trial_begins(trial)
    folder = context.folder.trial(trial.name)
    facts = replace(prepared.describe(context, trial), seconds=None, server_pids=prepared.system.server_pids())
    write_trial(folder, facts)
    tool, workers = tool_of(trial.workload)
    copied, state, reason = Copied(), "failed", None
    observer = observer_of(context, prepared.system, folder)
    with closing(Lines(folder / "records.jsonl")) as records:
        records.append_object(hello("copy", [("dump", "copy", None), ("restore", "copy", None)]))
        try:
            _copy(context, trial, prepared.system, folder / "tools.log", copied, _run_phase(records, observer))
            state, reason = _judge(copied)
        except RunFailed as failure:
            reason = str(failure)
        steps = {"dump": copied.dump, "restore": copied.restore}
        times = {name: ran.seconds for name, ran in steps.items() if ran}
        checks = {f"{table}: the copy is identical": "; ".join(said) or None for table, said in copied.differs.items()}
        for record in conclusion([times] if times else [], copied.restore is not None, checks, reason):
            records.append_object(record)
    facts = end_observing(
        context, observer, folder, replace(facts, ended_unix_s=time.time(), state=state, reason=reason)
    )
    programs = list(prepared.system.copy_tools[tool].programs)
    write_trial(folder, replace(facts, copy=describe(copied, tool, programs, workers)))
    judge_trial(folder)
    # Rows say more about a copy than transactions.
    rows = sum(copied.rows.values()) if copied.restore else 0
    outcome = Outcome(trial, state, reason, rows, sum(times.values()), {})
    context.listener.trial_ended(outcome)
    return outcome


@contextmanager
def _run_phase(records: Lines, observer: AnyObserver | None) -> Iterator[None]:
    """Record that the tools begin, and observe while they run."""
    with observer.watching(None, False) if observer else nullcontext():
        records.append_object({"record": "phase", "phase": "run", "state": "begin", "at_unix_s": time.time()})
        yield


def _copy(
    context: Context, trial: Trial, system: System, log_path: Path, copied: Copied, phase: AbstractContextManager[None]
) -> None:
    """Fill `copied` step by step; raises RunFailed, what is left is then not known.

    phase: entered while the tools run.
    """
    label = system.spec.label

    def on(work: Callable[[], Result]) -> Result:
        try:
            return wait_for(context, work, lambda: None, TIMEOUT_S)
        except copier.error as error:
            raise RunFailed(f"{label}: {error}") from None

    with closing(system.copier(*tool_of(trial.workload))) as copier:
        tables = on(lambda: copier.tables(of_copy=False))
        copied.rows.update({table: on(partial(copier.count, table)) for table in tables})
        folder = on(copier.create)
        tools = Tools(context, system, copier, log_path)
        try:
            with phase:
                copied.dump = tools.run(copier.dump(tables, folder))
                copied.dump_bytes, copied.table_bytes = _sizes(folder, tables)
                copied.restore = tools.run(copier.restore(tables, folder))
            began = time.perf_counter()
            _compare(on, copier, copied)
            copied.compared_s = time.perf_counter() - began
        finally:
            # If the store died, its copy goes away with its directory.
            with suppress(*copier.error):
                copier.drop()


def _sizes(folder: Path, tables: list[str]) -> tuple[int, dict[str, int]]:
    """Return the bytes of the dump's files, of all of them and by the table they are called after."""
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    by_table = {table: sum(size for path, size in sizes.items() if path.stem == table) for table in tables}
    return sum(sizes.values()), {table: size for table, size in by_table.items() if size}


def _compare(on: Callable[[Callable[[], Any]], Any], copier: Copier, copied: Copied) -> None:
    there = on(lambda: copier.tables(of_copy=True))
    for table in sorted({*copied.rows, *there}):
        if table not in there or table not in copied.rows:
            copied.differs[table] = [f"the table is {'missing' if table in copied.rows else 'not in the original'}"]
        else:
            copied.differs[table] = on(partial(_differences, copier, table, copied.rows[table]))


def _differences(copier: Copier, table: str, expected_rows: int) -> list[str]:
    definitions = [copier.definition(table, of_copy) for of_copy in (False, True)]
    rows, differences = compare_rows(copier.rows(table, of_copy=False), copier.rows(table, of_copy=True))
    if not differences and rows != expected_rows:
        differences = [f"{rows:,} rows were compared and {expected_rows:,} dumped"]
    return [*compare_definitions(*definitions), *differences]


def _judge(copied: Copied) -> tuple[str, str | None]:
    wrong = {table: said for table, said in copied.differs.items() if said}
    if not wrong:
        return "complete", None
    table, said = next(iter(wrong.items()))
    return "failed", f"the copy differs in {len(wrong)} of {len(copied.differs)} tables; {table}: {'; '.join(said)}"


def describe(copied: Copied, tool: str, programs: list[str], workers: int) -> CopyStated:
    """Return what `trial.json` says of a copy (docs/run-folder.md)."""
    rows, dump, restore = sum(copied.rows.values()), copied.dump, copied.restore
    return {
        "tool": tool,
        "programs": programs,
        "workers": workers,
        "rows": rows,
        "dump_bytes": copied.dump_bytes,
        "dump": _speed(dump, rows, copied.dump_bytes) if dump else None,
        "restore": _speed(restore, rows, copied.dump_bytes) if restore else None,
        "tables": [
            {
                "table": table,
                "rows": count,
                "dump_bytes": copied.table_bytes.get(table),
                "dump_s": dump.table_s.get(table) if dump else None,
                "restore_s": restore.table_s.get(table) if restore else None,
                "differs": copied.differs.get(table),
            }
            for table, count in copied.rows.items()
        ],
        "compared_s": copied.compared_s,
        "identical": None if copied.compared_s is None else not any(copied.differs.values()),
    }


def _speed(ran: Ran, rows: int, dump_bytes: int) -> CopyStepStated:
    return {
        "seconds": ran.seconds,
        "rows_per_s": rows / ran.seconds,
        "bytes_per_s": dump_bytes / ran.seconds,
        "tool_cpu_s": ran.tool_cpu_s,
        "server_cpu_s": ran.server_cpu_s,
    }
