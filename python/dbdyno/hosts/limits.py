"""Bounds of the number of clients on a host: open files, ports and memory."""

import resource
from dataclasses import dataclass
from pathlib import Path

from dbdyno.observe.room import free_memory_bytes

PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""The ports that the kernel gives to connections (ip(7))."""

MORE_PORTS = "sysctl -w net.ipv4.ip_local_port_range='1024 65535'"


@dataclass(frozen=True)
class Limits:
    """The limits of this host.

    open_files: that a process may have, as it raises its soft limit itself; None for any number.
    ports: for connections to one address and port. memory_bytes: that are free.
    """

    open_files: int | None
    ports: int
    memory_bytes: int


def own_limits() -> Limits:
    """Return this host's limits."""
    _, open_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    first, last = map(int, PORT_RANGE.read_text().split())
    return Limits(
        None if open_files == resource.RLIM_INFINITY else open_files, last - first + 1, free_memory_bytes(None)
    )
