"""Bounds of the number of clients on a host: open files, ports and memory."""

import resource
import socket
from dataclasses import dataclass
from ipaddress import ip_address
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


def is_own(address: str) -> bool:
    """Return whether connections of this host can begin from an address; raises ValueError if it is none."""
    family = socket.AF_INET if ip_address(address).version == 4 else socket.AF_INET6
    with socket.socket(family) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def own_limits() -> Limits:
    """Return this host's limits."""
    _, open_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    first, last = map(int, PORT_RANGE.read_text().split())
    return Limits(
        None if open_files == resource.RLIM_INFINITY else open_files, last - first + 1, free_memory_bytes(None)
    )
