"""Removes what an earlier run left on somebody else's store."""

import os
from dataclasses import dataclass, field

from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.load_client import Supervision, execute, why_it_failed
from dbdyno.conduct.plan import make_cleaning_plan
from dbdyno.contract import Record
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import SYSBENCH
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard


@dataclass(frozen=True)
class Cleaned:
    """The result of removing the tables and keys that dbdyno's markers name.

    removed: names of tables, databases and sets of keys; after a dry run, what would be removed.
    left: sentences about keys that a marker names and that are not dbdyno's.
    cannot_know: sentences about what may be left, as the store cannot tell.
    """

    removed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    cannot_know: list[str] = field(default_factory=list)

    def take(self, record: Record) -> None:
        """Add what a record of a load client says."""
        if record["record"] != "phase":
            return
        self.removed.extend(record.get("removed", ()))
        self.removed.extend(record.get("leftovers", ()))
        self.left.extend(record.get("left", ()))
        if sentence := record.get("cannot_know"):
            self.cannot_know.append(sentence)


def clean(spec: SystemSpec, dry_run: bool = False) -> Cleaned:
    """Remove from an attached store whatever dbdyno's markers name, and nothing else.

    dry_run: remove nothing.
    Raises UserError if it is not somebody else's store or cannot be reached, RunFailed if something is left.
    """
    if not spec.attached:
        raise UserError(f"'{spec.label}' is not a URL; dbdyno removes the servers that it starts")
    system = build(spec)
    cleaned = Cleaned()
    with Interrupts() as interrupts, Guard() as guard, guard.scratch() as folder:
        system.start(Launch(guard, folder, 1, 1))
        try:
            # Only the load client that calls sysbench knows sysbench's tables.
            for program in (None, SYSBENCH) if SYSBENCH in system.operations else (None,):
                secrets: list[str] = []
                plan = make_cleaning_plan(system.store_plan(secrets), f"clean-{os.getpid()}", program, dry_run)
                records = folder / (program or "own")
                records.mkdir()
                summary = execute(plan, secrets, records, Supervision(guard, interrupts), cleaned.take)
                if reason := why_it_failed(summary, records):
                    failed = "not everything could be listed" if dry_run else "not everything could be removed"
                    raise RunFailed(f"{spec.label}: {failed}: {reason}")
        finally:
            system.stop()
    return cleaned
