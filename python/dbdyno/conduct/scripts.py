"""Whether sysbench is installed, and has the script that an experiment names."""

import shutil
import subprocess
from pathlib import Path

from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.workloads import SYSBENCH, split_variant

BUILT_IN = ("fileio", "cpu", "memory", "threads", "mutex")
"""sysbench's tests that are no Lua scripts and drive no store."""
DEFAULT = "oltp_read_write"


def missing_sysbench(experiment: Experiment) -> str | None:
    """Return that sysbench is not installed where a workload needs it, and how to get it; else None."""
    asked = any(experiment.find_workload(name).program for name in experiment.workload)
    return "sysbench is not installed: apt install sysbench" if asked and not shutil.which(SYSBENCH) else None


def check_scripts(experiment: Experiment) -> None:
    """Raise UserError if there is no such script; what only sysbench can tell is not asked where it is missing."""
    for name in experiment.workload:
        if experiment.find_workload(name).program:
            _check(str((experiment.options | split_variant(name)[1]).get("script", DEFAULT)))


def _check(script: str) -> None:
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
