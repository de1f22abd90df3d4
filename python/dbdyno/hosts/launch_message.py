"""The parameters of a server's start, as the keeper on its host reads them."""

from pathlib import Path

from dbdyno.hosts.channel import Message
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard

_AS_THEY_ARE = ("clients", "rows", "memory_limit_bytes", "answer_timeout_s", "cold")


def message_of_launch(launch: Launch) -> Message:
    """Return what a keeper must know of a start; where things lie is a matter of its host, kept data apart."""
    cpus, data = launch.server_cpus, launch.data
    as_they_are = {key: getattr(launch, key) for key in _AS_THEY_ARE}
    return as_they_are | {"server_cpus": list(cpus) if cpus else None, "data": str(data) if data else None}


def launch_of(message: Message, guard: Guard, log_folder: Path, address: str) -> Launch:
    """Return the start that `message_of_launch` wrote, on this host, whose servers listen at `address`."""
    cpus, data = message["server_cpus"], message["data"]
    as_they_are = {key: message[key] for key in _AS_THEY_ARE}
    return Launch(
        guard,
        log_folder,
        server_cpus=tuple(cpus) if cpus else None,
        data=Path(data) if data else None,
        address=address,
        **as_they_are,
    )
