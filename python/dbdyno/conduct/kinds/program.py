"""A workload that another program drives: sysbench, with a Lua script that it ships or that a person wrote."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from dbdyno.conduct.clients import refuse_for_program
from dbdyno.conduct.context import Context
from dbdyno.conduct.kinds.base import WorkloadKind
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.loading import Loaded, load_rows
from dbdyno.conduct.trial import Prepared, run_trial
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.trials import Preparation, Trial
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.experiment.workloads import SYSBENCH
from dbdyno.systems.base import System

BUILT_IN = ("fileio", "cpu", "memory", "threads", "mutex")
"""sysbench's tests that are no Lua scripts and drive no store."""
DEFAULT = "oltp_read_write"


class ProgramKind(WorkloadKind):
    """Transactions of sysbench's threads, in a closed loop."""

    errors_count = True

    def refuse(self, experiment: Experiment, workload: WorkloadSpec) -> None:
        check_script(workload.option("script") or DEFAULT)
        refuse_for_program(experiment, workload.name)

    def missing(self, workload: WorkloadSpec, system: System) -> str | None:
        del workload, system
        return None if shutil.which(SYSBENCH) else "sysbench is not installed: apt install sysbench"

    def load(self, context: Context, preparation: Preparation, system: System, folder: Path) -> Loaded:
        """Have sysbench load with all threads: its scripts make a table for each thread, or have each fill some."""
        return load_rows(context, preparation, system, folder, max(context.experiment.clients))

    def run(self, context: Context, prepared: Prepared, trial: Trial) -> Iterator[Outcome]:
        yield run_trial(context, prepared, trial)


def check_script(script: str) -> None:
    """Raise UserError if there is no such script; only sysbench can tell, so without it nothing is checked."""
    if script in BUILT_IN:
        raise UserError(
            f"options.script: '{script}' is a test of sysbench's own that drives no store; give a Lua script"
        )
    if "/" in script or script.endswith(".lua"):
        if not Path(script).is_file():
            raise UserError(f"options.script: {script}: no such file")
    elif shutil.which(SYSBENCH):
        ran = subprocess.run(
            [SYSBENCH, script, "help"], stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False
        )
        if "Cannot find benchmark" in ran.stdout + ran.stderr:
            raise UserError(
                f"options.script: sysbench has no script '{script}'; give one it ships, such as {DEFAULT}, or a path"
            )
