"""Removes what an earlier run left on somebody else's store."""

import os

from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.load_client import execute, why_it_failed
from dbdyno.conduct.plan import make_cleaning_plan
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from dbdyno.systems.guard import Guard


def clean(spec: SystemSpec) -> None:
    """Remove from an attached store whatever carries dbdyno's marker, and nothing else.

    Raises UserError if it is not somebody else's store or cannot be reached, RunFailed if something is left.
    """
    if not spec.attached:
        raise UserError(f"'{spec.label}' is no URL; what dbdyno starts itself it also removes")
    system = build(spec)
    with Interrupts() as interrupts, Guard() as guard, guard.scratch() as folder:
        system.start(Launch(guard, folder, 1, 1))
        try:
            secrets: list[str] = []
            plan = make_cleaning_plan(system.store_plan(secrets), f"clean-{os.getpid()}")
            summary = execute(plan, secrets, folder, guard, interrupts, lambda record: None)
            if reason := why_it_failed(summary, folder):
                raise RunFailed(f"{spec.label}: not everything could be removed: {reason}")
        finally:
            system.stop()
