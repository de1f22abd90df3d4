"""Decide by an estimate whether the load fits the disk and the memory, before anything is started."""

from collections.abc import Sequence

from dbdyno.conduct.kinds import kind_of
from dbdyno.conduct.lineup import Lineup
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.observe.room import FreeRoom, free_room
from dbdyno.systems.base import System


def check_room(experiment: Experiment, systems: Sequence[SystemSpec], lineup: Lineup) -> None:
    """Raise UserError, with the estimate, if a workload's rows do not fit beside each other in a system.

    Systems are loaded one after the other, so each must fit alone. The content of somebody else's server is not known.
    """
    for spec in systems:
        own = experiment.of(spec)
        free = free_room(own.memory_limit_bytes, own.data_directory)
        for workload in own.workload:
            check_room_of(own, spec, workload, lineup.find(spec, workload), free)


def check_room_of(
    own: Experiment, spec: SystemSpec, workload: WorkloadSpec, system: System, free: FreeRoom, host: str = ""
) -> None:
    """Raise UserError if a workload's rows do not fit in a system, or in one of its servers.

    own: the experiment of that system. free: of the host that starts it. host: its name, if that is not this one.
    """
    on_host = f" on {host}" if host else ""
    needed = kind_of(workload).space(own, workload, system)
    what = f"{spec.label}: {own.rows:,} rows of {workload} take about"
    remedy = "give fewer --rows" + (" or --scale small" if own.scale not in (None, "small") else "")
    if needed.disk_bytes > free.disk_bytes:
        raise UserError(
            f"{what} {_gigabytes(needed.disk_bytes)} of disk, and {_gigabytes(free.disk_bytes)} are free at "
            f"{free.directory}{on_host}: {remedy}, or another disk in DBDYNO_DATA_DIR"
        )
    if needed.memory_bytes > free.memory_bytes:
        raise UserError(
            f"{what} {_gigabytes(needed.memory_bytes)} of memory, and {_gigabytes(free.memory_bytes)} are "
            f"free{on_host}: {remedy}"
        )


def _gigabytes(size_bytes: float) -> str:
    return f"{size_bytes / 1e9:,.1f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:,.0f} MB"
