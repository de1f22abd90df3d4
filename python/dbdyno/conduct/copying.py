"""A trial of `dump-restore`: a store's own tools dump its tables and restore them beside; then both are compared.

Calling a program and waiting for it needs no load client; what is recorded is in the words of docs/contract.md all the
same, one copy being a transaction of two operations, dump and restore.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from dbdyno.conduct.context import Context
from dbdyno.conduct.identity import compare_definitions, compare_rows
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.passes import conclusion, hello
from dbdyno.conduct.tools import TIMEOUT_S, Ran, Tools
from dbdyno.conduct.trial import Prepared, describe_trial
from dbdyno.conduct.waiting import wait_for
from dbdyno.errors import RunFailed
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.trials import Trial
from dbdyno.experiment.workloads import find_workload, split_variant
from dbdyno.results.write import Lines, write_object
from dbdyno.systems.base import System
from dbdyno.systems.copier import Copier

Document = dict[str, Any]
Result = TypeVar("Result")


def copied_by(experiment: Experiment, workload: str) -> tuple[str, int]:
    """Return the tool and the number of workers of a variant of the workload."""
    name, options = split_variant(workload)
    options = experiment.options | options
    return options.get("tool", find_workload(name).options["tool"][0]), int(options.get("workers", "1"))


@dataclass
class Copied:
    """What came of a copy, as far as it got. rows: of each table. differs: of each table compared, how."""

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
    document = describe_trial(context, trial, prepared.name) | prepared.facts
    write_object(folder / "trial.json", document | {"seconds": None})
    tool, workers = copied_by(context.experiment, trial.workload)
    copied, state, reason = Copied(), "failed", None
    with closing(Lines(folder / "records.jsonl")) as records:
        records.append_object(hello("copy", [("dump", "copy", None), ("restore", "copy", None)]))
        records.append_object({"record": "phase", "phase": "run", "state": "begin", "at_unix_s": time.time()})
        try:
            _copy(context, prepared.system, tool, workers, folder / "tools.log", copied)
            state, reason = _judge(copied)
        except RunFailed as failure:
            reason = str(failure)
        steps = {"dump": copied.dump, "restore": copied.restore}
        times = {name: ran.seconds for name, ran in steps.items() if ran}
        checks = {f"{table}: the copy is identical": "; ".join(said) or None for table, said in copied.differs.items()}
        for record in conclusion([times] if times else [], copied.restore is not None, checks, reason):
            records.append_object(record)
    document |= {"ended_unix_s": time.time(), "seconds": None, "state": state, "reason": reason}
    programs = list(prepared.system.copy_tools[tool].programs)
    write_object(folder / "trial.json", document | {"copy": describe(copied, tool, programs, workers)})
    # What a line about it can say in transactions a second says more in rows.
    rows = sum(copied.rows.values()) if copied.restore else 0
    outcome = Outcome(trial, state, reason, rows, sum(times.values()), {})
    context.listener.trial_ended(outcome)
    return outcome


def _copy(context: Context, system: System, tool: str, workers: int, log_path: Path, copied: Copied) -> None:
    """Fill `copied` step by step; raises RunFailed, what is left is then not known."""
    label = system.spec.label

    def on(work: Callable[[], Result]) -> Result:
        try:
            return wait_for(context, work, lambda: None, TIMEOUT_S)
        except copier.error as error:
            raise RunFailed(f"{label}: {error}") from None

    with closing(system.copier(tool, workers)) as copier:
        tables = on(lambda: copier.tables(of_copy=False))
        copied.rows.update({table: on(lambda table=table: copier.count(table)) for table in tables})
        folder = on(copier.create)
        tools = Tools(context, system, copier, log_path)
        try:
            copied.dump = tools.run(copier.dump(tables, folder))
            copied.dump_bytes, copied.table_bytes = _sizes(folder, tables)
            copied.restore = tools.run(copier.restore(tables, folder))
            began = time.perf_counter()
            _compare(on, copier, copied)
            copied.compared_s = time.perf_counter() - began
        finally:
            # What a store that died leaves goes away with its directory.
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
            copied.differs[table] = on(lambda table=table: _differences(copier, table, copied.rows[table]))


def _differences(copier: Copier, table: str, expected_rows: int) -> list[str]:
    definitions = [copier.definition(table, of_copy) for of_copy in (False, True)]
    rows, found = compare_rows(copier.rows(table, of_copy=False), copier.rows(table, of_copy=True))
    if not found and rows != expected_rows:
        found = [f"{rows:,} rows were compared and {expected_rows:,} dumped"]
    return [*compare_definitions(*definitions), *found]


def _judge(copied: Copied) -> tuple[str, str | None]:
    wrong = {table: said for table, said in copied.differs.items() if said}
    if not wrong:
        return "complete", None
    table, said = next(iter(wrong.items()))
    return "failed", f"the copy differs in {len(wrong)} of {len(copied.differs)} tables; {table}: {'; '.join(said)}"


def describe(copied: Copied, tool: str, programs: list[str], workers: int) -> Document:
    """Return what `trial.json` says of a copy (docs/run-folder.md)."""
    rows = sum(copied.rows.values())
    steps = {"dump": copied.dump, "restore": copied.restore}
    return {
        "tool": tool,
        "programs": programs,
        "workers": workers,
        "rows": rows,
        "dump_bytes": copied.dump_bytes,
        **{name: ran and _speed(ran, rows, copied.dump_bytes) for name, ran in steps.items()},
        "tables": [
            {
                "table": table,
                "rows": count,
                "dump_bytes": copied.table_bytes.get(table),
                **{f"{name}_s": ran.table_s.get(table) if ran else None for name, ran in steps.items()},
                "differs": copied.differs.get(table),
            }
            for table, count in copied.rows.items()
        ],
        "compared_s": copied.compared_s,
        "identical": None if copied.compared_s is None else not any(copied.differs.values()),
    }


def _speed(ran: Ran, rows: int, dump_bytes: int) -> Document:
    return {
        "seconds": ran.seconds,
        "rows_per_s": rows / ran.seconds,
        "bytes_per_s": dump_bytes / ran.seconds,
        "tool_cpu_s": ran.tool_cpu_s,
        "server_cpu_s": ran.server_cpu_s,
    }
