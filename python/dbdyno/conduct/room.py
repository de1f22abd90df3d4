"""Decide by an estimate whether the load fits the disk and the memory, before anything is started."""

from collections.abc import Sequence

from dbdyno.conduct.kinds import kind_of
from dbdyno.conduct.lineup import Lineup
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.observe.room import FreeRoom, free_room


def check_room(
    experiment: Experiment, systems: Sequence[SystemSpec], lineup: Lineup, room: FreeRoom | None = None, host: str = ""
) -> None:
    """Raise UserError, with the estimate, if a workload's rows do not fit beside each other in a system.

    Systems are loaded one after the other, so each must fit alone. The content of somebody else's server is not known.
    room: of the host that starts the systems, if that is not this one. host: its name.
    """
    on_host = f" on {host}" if host else ""
    for spec in systems:
        own = experiment.of(spec)
        free = room or free_room(own.memory_limit_bytes, own.data_directory)
        for workload in own.workload:
            needed = kind_of(workload).space(own, workload, lineup.find(spec, workload))
            what = f"{spec.label}: {own.rows:,} rows of {workload} take about"
            remedy = "give fewer --rows" + (" or --scale small" if experiment.scale not in (None, "small") else "")
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
