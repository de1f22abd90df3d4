"""Removes what an earlier run left on somebody else's store."""

import os
from typing import Any

from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.load_client import Supervision, execute, why_it_failed
from dbdyno.conduct.plan import make_cleaning_plan
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import SYSBENCH
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard


def clean(spec: SystemSpec) -> list[str]:
    """Remove from an attached store whatever carries dbdyno's marker, and nothing else; returns the names of that.

    Raises UserError if it is not somebody else's store or cannot be reached, RunFailed if something is left.
    """
    if not spec.attached:
        raise UserError(f"'{spec.label}' is no URL; what dbdyno starts itself it also removes")
    system = build(spec)
    removed: list[str] = []

    def take(record: dict[str, Any]) -> None:
        removed.extend(record.get("removed", ()))

    with Interrupts() as interrupts, Guard() as guard, guard.scratch() as folder:
        system.start(Launch(guard, folder, 1, 1))
        try:
            # What sysbench's tables are in that load client alone knows which has it make them.
            for program in (None, SYSBENCH) if SYSBENCH in system.operations else (None,):
                secrets: list[str] = []
                plan = make_cleaning_plan(system.store_plan(secrets), f"clean-{os.getpid()}", program)
                records = folder / (program or "own")
                records.mkdir()
                summary = execute(plan, secrets, records, Supervision(guard, interrupts), take)
                if reason := why_it_failed(summary, records):
                    raise RunFailed(f"{spec.label}: not everything could be removed: {reason}")
        finally:
            system.stop()
    return removed
