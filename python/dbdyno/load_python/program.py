"""The program: reads a plan, executes its phases, and says how that ended."""

from __future__ import annotations

import os
import platform
import signal
import sys
from contextlib import AbstractContextManager
from functools import partial

from dbdyno import __version__
from dbdyno.contract import CONTRACT, HelloRecord
from dbdyno.load_python import signals
from dbdyno.load_python.bounds import limit_complaints, limit_memory, within, words
from dbdyno.load_python.driver import Driver, find_driver
from dbdyno.load_python.ending import conclude
from dbdyno.load_python.failure import Ended, Failure, not_understood
from dbdyno.load_python.host import die_with_parent, pin, processors
from dbdyno.load_python.own_cost import own_cpu_us
from dbdyno.load_python.plan import Plan, read_plan
from dbdyno.load_python.records import Records
from dbdyno.load_python.run import Run
from dbdyno.load_python.session import load_library
from dbdyno.load_python.verify import sums, verify
from dbdyno.load_python.worker import processes_for
from dbdyno.load_python.workloads import Workload, make_workload

PROGRAM = "dbdyno-load-python"
ROWS_PER_S = 1000
"""Least speed of a store at counting rows, for the time-out."""


def main(arguments: list[str]) -> int:
    """Execute the plan on stdin and return the exit status of docs/contract.md."""
    if arguments == ["--version"]:
        print(f"{PROGRAM} {__version__}")
        return 0
    if len(arguments) == 3 and arguments[0] == "library":
        return say_version(*arguments[1:])
    if arguments != ["run"]:
        print(
            f"usage: {PROGRAM} run | library NAME C_LIBRARY | --version (a plan on stdin, records on stdout)",
            file=sys.stderr,
        )
        return 2
    die_with_parent(signal.SIGTERM)
    records = Records(sys.stdout)

    def work() -> None:
        plan = read_plan(sys.stdin)
        signals.listen()
        limit_memory(1, 1)
        limit_complaints()
        execute(plan, records)

    return conclude(records, work)


def say_version(library: str, c_library: str) -> int:
    """Print the version of a client library that loads the C library at a path; return the exit status."""
    try:
        print(load_library(library, c_library).version())
    except Ended as ended:
        print(ended.reason, file=sys.stderr)
        return 2
    return 0


def execute(plan: Plan, records: Records) -> None:
    """Execute the phases of a plan; a run that was interrupted is still verified. Raises Ended if it cannot be."""
    workload = make_workload(plan.workload["name"], plan.workload["rows"], plan.workload.get("options", {}))
    driver = find_driver(plan, workload)
    if plan.cpus:
        pin(plan.cpus)
    records.write(_hello(plan, workload, driver))
    try:
        _execute(plan, workload, driver, records)
    except Failure as failure:
        raise Ended("failed", f"{failure.kind}: {failure.message}") from None
    except (Ended, OSError):
        raise
    except Exception as error:  # Whatever a library raises on an answer it does not understand.
        unread = not_understood(error)
        raise Ended("failed", f"{unread.kind}: {unread.message}") from None


def _execute(plan: Plan, workload: Workload, driver: Driver, records: Records) -> None:
    def bounded() -> AbstractContextManager[None]:
        return within(plan.operation_timeout_s + workload.rows / ROWS_PER_S, partial(_give_up, plan, records))

    checked, run, before = "verify" in plan.phases, None, {}
    if "run" in plan.phases:
        if checked:
            with bounded():
                session = driver.open()
                before = sums(workload, session)
            # A connection that is open when processes are forked would be open in each of them.
            session.close()
        with records.phase("run"):
            run = Run(plan, workload, driver.open, records)
            run.execute()
    if checked:
        with records.phase("verify"), bounded():
            session = driver.open()
            verify(workload, session, before, run.totals if run else None, records)
            session.close()


def _give_up(plan: Plan, records: Records) -> None:
    """End the program: a library that waits for ever cannot be told to stop."""
    records.write({"record": "end", "status": "failed", "reason": f"timeout: {words(plan.operation_timeout_s)}"})
    os._exit(1)


def _hello(plan: Plan, workload: Workload, driver: Driver) -> HelloRecord:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return {
        "record": "hello",
        "contract": CONTRACT,
        "program": PROGRAM,
        "version": __version__,
        # A debug build of Python counts references, and is far slower.
        "profile": "debug" if hasattr(sys, "gettotalrefcount") else "release",
        "pid": os.getpid(),
        "transaction": workload.transaction,
        "operations": [
            {"name": step.name, "operation": step.operation, "table": step.table.name} for step in workload.steps
        ],
        "threads": min(processes_for(plan), processors()),
        "processes": processes_for(plan),
        "layout": driver.layout,
        "library": f"{driver.version}, {python}",
        "own_cpu_us_per_transaction": round(own_cpu_us(plan, driver.is_encoded), 3),
    }
