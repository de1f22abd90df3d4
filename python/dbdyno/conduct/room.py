"""Whether what would be loaded fits the disk and the memory, by an estimate, before anything is started."""

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

from dbdyno.conduct.kinds import kind_of
from dbdyno.conduct.lineup import Lineup
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.observe.cgroup import groups_of
from dbdyno.observe.environment import data_directory

_LIMITS = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
"""Of control groups of version 2 and of version 1."""


def check_room(experiment: Experiment, systems: Sequence[SystemSpec], lineup: Lineup) -> None:
    """Raise UserError, with the estimate, if a workload's rows do not fit beside each other in a system.

    Systems are loaded one after the other, so each must fit alone. What somebody else's server holds is not known.
    """
    directory = data_directory()
    for spec in systems:
        for workload in experiment.workload:
            needed = kind_of(workload).space(experiment, workload, lineup.find(spec, workload))
            what = f"{spec.label}: {experiment.rows:,} rows of {workload} take about"
            remedy = "give fewer --rows" + (" or --scale small" if experiment.scale not in (None, "small") else "")
            if needed.disk_bytes > (free := shutil.disk_usage(directory).free):
                raise UserError(
                    f"{what} {_gigabytes(needed.disk_bytes)} of disk, and {_gigabytes(free)} are free at {directory}: "
                    f"{remedy}, or another disk in DBDYNO_DATA_DIR"
                )
            if needed.memory_bytes > (free := free_memory_bytes(experiment.memory_limit_bytes)):
                raise UserError(
                    f"{what} {_gigabytes(needed.memory_bytes)} of memory, and {_gigabytes(free)} are free: {remedy}"
                )


def free_memory_bytes(limit_bytes: int | None) -> int:
    """Return the memory that a server could have: of the host, of dbdyno's control groups, and of its own limit."""
    limits: list[int] = [psutil.virtual_memory().available, *_left(groups_of(os.getpid()).get("memory", []))]
    return min(limits if limit_bytes is None else [*limits, limit_bytes])


def _left(groups: list[Path]) -> Iterable[int]:
    """Yield what each control group that has a limit leaves to its processes."""
    for group in groups:
        for limit, used in _LIMITS:
            try:
                limit_bytes, used_bytes = (int((group / name).read_text()) for name in (limit, used))
            except (OSError, ValueError):
                continue  # Another version, or `max`.
            yield max(0, limit_bytes - used_bytes)


def _gigabytes(size_bytes: float) -> str:
    return f"{size_bytes / 1e9:,.1f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:,.0f} MB"
