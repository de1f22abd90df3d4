"""The program: reads a plan, has sysbench execute its phases, and says how that ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from dbdyno.contract import CONTRACT, HelloRecord, NotGivenRecord
from dbdyno.load_python import signals
from dbdyno.load_python.ending import conclude
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.host import die_with_parent, pin, processors
from dbdyno.load_python.records import Records
from dbdyno.load_sysbench.command import command, configuration
from dbdyno.load_sysbench.database import DATABASE, Owner, make_database, others_in, owner_of, remove_database
from dbdyno.load_sysbench.output import telling
from dbdyno.load_sysbench.plan import Plan, read_plan
from dbdyno.load_sysbench.process import Quiet, environment_for, start
from dbdyno.load_sysbench.run import Run

NOT_GIVEN: NotGivenRecord = {
    "brief": "not verified, timed by sysbench",
    "text": "not verified, timed by sysbench: no answer was compared. Times come from its histogram (buckets of 1.8 %) "
    "for the whole run and for whole transactions only. Send lag is not known",
}
"""Limits of sysbench's figures (docs/contract.md, hello)."""
_EMPTY = (
    f"the database {DATABASE} has no table and no marker of dbdyno's: a killed run may have left it. "
    f"If it is not yours: DROP DATABASE {DATABASE}"
)


def main(arguments: list[str]) -> int:
    """Execute the plan on stdin and return the exit status of docs/contract.md."""
    if arguments != ["run"]:
        print("usage: python -m dbdyno.load_sysbench run (a plan on stdin, records on stdout)", file=sys.stderr)
        return 2
    die_with_parent(signal.SIGTERM)
    records = Records(sys.stdout)

    def work() -> None:
        plan = read_plan(sys.stdin)
        signals.listen()
        execute(plan, records)

    return conclude(records, work)


def execute(plan: Plan, records: Records) -> None:
    """Execute the phases of a plan; raises Ended if one cannot be."""
    if plan.script is None:
        _remove_leftovers(plan, records)
        return
    if plan.cpus:
        pin(plan.cpus)
    version = _said(["sysbench", "--version"], plan.script).split()
    records.write(_hello(plan, version))
    known = _said(["sysbench", plan.script, "help"], plan.script)
    own = plan.store["database"] == DATABASE
    if "prepare" in plan.phases:
        with records.phase("prepare"):
            if own:
                make_database(plan)
    if "load" in plan.phases:
        with records.phase("load"):
            _do(plan, "prepare", known)
            if plan.prewarm:
                _do(plan, "prewarm", known)
    if "run" in plan.phases:
        Run(plan, known, records).execute()
    if "cleanup" in plan.phases:
        with records.phase("cleanup"):
            _clean_up(plan, known, own)


def _clean_up(plan: Plan, known: str, own: bool) -> None:
    """Have sysbench remove its tables, and remove their database if dbdyno made it; nothing if none is dbdyno's.

    sysbench drops every table that has the name of one of its own.
    """
    if own and owner_of(plan) in (None, Owner.OTHERS):
        return
    try:
        _do(plan, "cleanup", known)
    finally:
        if own:
            remove_database(plan)


def _remove_leftovers(plan: Plan, records: Records) -> None:
    """Remove, or list, the database of a killed run: sysbench has no part in that, and need not be there."""
    records.write(_hello(plan, ()))
    only_list = "list" in plan.phases
    with records.phase("list" if only_list else "cleanup") as end:
        owner = owner_of(plan)
        others = others_in(plan) if owner is Owner.DBDYNO else None
        is_removed = owner is Owner.DBDYNO and not others
        end["leftovers" if only_list else "removed"] = [DATABASE] if is_removed else []
        end["cannot_know"] = _EMPTY if owner is Owner.EMPTY else others
        if is_removed and not only_list:
            remove_database(plan)


def _do(plan: Plan, verb: str, known: str) -> None:
    """Have sysbench prepare, prewarm or clean up; a script that has no such command has nothing to do."""
    process, output = start(command(plan, verb, known), configuration(plan), plan.script, plan.clients)
    with Quiet(process) as quiet:
        said = output.read()
    output.close()
    status = process.wait()
    sys.stderr.write(said)
    quiet.check(f"sysbench {plan.script} {verb}")
    if status and f"does not implement the '{verb}' command" not in said and not signals.stop_requested():
        raise Ended("failed", f"sysbench {plan.script} {verb}: {telling(said.splitlines())}")


def _said(arguments: Sequence[str], script: str) -> str:
    """Return what sysbench says; raises Ended if it is not installed."""
    environment = environment_for(script)
    try:
        return subprocess.run(
            arguments, stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False, env=environment
        ).stdout
    except OSError as error:
        raise Ended("refused", f"sysbench cannot be run ({error.strerror}): apt install sysbench") from None


def _hello(plan: Plan, version: Sequence[str]) -> HelloRecord:
    return {
        "record": "hello",
        "contract": CONTRACT,
        "program": "sysbench",
        "version": version[1] if len(version) > 1 else "of unknown version",
        "profile": "release",
        "pid": os.getpid(),
        "transaction": plan.script,
        "operations": [],
        "threads": plan.clients,
        "processors": processors(),
        "not_given": NOT_GIVEN,
    }
