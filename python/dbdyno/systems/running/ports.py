"""Free ports for the servers that dbdyno starts."""

import errno
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule
from dbdyno.systems.base import LOOPBACK

if TYPE_CHECKING:
    import secrets
else:
    secrets = LaterModule("secrets")

LOWEST_PORT = 20_000
PORTS_TRIED = 50
"""Ports that are drawn before the kernel chooses one."""
_OUTGOING_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port(address: str = LOOPBACK) -> int:
    """Return a port of one of this host's addresses that nobody listens at.

    It is below the ports of outgoing connections if there is room: one of these could take it before the server does.
    """
    candidates = range(LOWEST_PORT, _lowest_outgoing_port())
    for _ in range(PORTS_TRIED if candidates else 0):
        port = candidates[secrets.randbelow(len(candidates))]
        try:
            return _bound(address, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    return _bound(address, 0)


def _bound(address: str, port: int) -> int:
    """Return the port that was bound for a moment: this one, or any if it is 0."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address, port))
        return int(probe.getsockname()[1])


def _lowest_outgoing_port() -> int:
    """Return the first port that the kernel gives to outgoing connections; 0 if it does not say."""
    try:
        return int(_OUTGOING_PORTS.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return 0
