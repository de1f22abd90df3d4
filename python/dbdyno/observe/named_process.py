"""The check that a process which a person names is the server at an address."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dbdyno.observe.queues import is_local, listener, socket_listener
from dbdyno.observe.servers import server_of

_PROC = Path("/proc")
_LISTENS_TCP = "0A"
"""`TCP_LISTEN` in the column `st` of /proc/net/tcp (proc(5))."""
_LISTENS_UNIX = re.compile(r"\w+: \w+ \w+ 00010000 \w+ \w+ +(?P<inode>\d+)(?: (?P<path>.+))?")


def why_not_server(pid: int, address: tuple[str, int] | None, socket: str | None) -> str | None:
    """Return why a process is not the server at an address or a Unix socket; `None` if it is.

    A process of another network namespace, such as a container's, has ports and paths of its own: there it is enough
    that it listens.
    """
    server = server_of(pid)
    if server is None:
        return "there is no such process on this host"
    named = f"{server.name} is its program, and it"
    try:
        files = set(_open_files(pid))
        is_elsewhere = _network(pid) != _network(os.getpid())
    except PermissionError:
        return f"{server.name} is another user's process: run dbdyno as that user or as root"
    if is_elsewhere:
        listens = files & {inode for inode, _ in (*_tcp(pid), *_unix(pid))}
        return None if listens else f"{named} listens nowhere"
    if socket is None and address is not None and not is_local(address[0]):
        return f"{address[0]} is not this host: leave pid out"
    known = [] if address is None else [inode for inode, port in _tcp(pid) if port == address[1]]
    at_socket = [inode for inode, path in _unix(pid) if path == socket and socket is not None]
    if files & {*known, *at_socket}:
        return None
    right = socket_listener(socket) if socket else listener(*address) if address else None
    instead = f"; process {right} does" if right else ""
    return f"{named} does not listen at {socket or ':'.join(map(str, address or ()))}{instead}"


def _open_files(pid: int) -> Iterator[str]:
    """Yield the inodes of a process's sockets; raises PermissionError if this user may not see them."""
    folder = _PROC / str(pid) / "fd"
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):
            yield os.readlink(folder / name).removeprefix("socket:[").removesuffix("]")


def _network(pid: int) -> str:
    return os.readlink(_PROC / str(pid) / "ns/net")


def _tcp(pid: int) -> Iterator[tuple[str, int]]:
    """Yield inode and port of each listening socket in a process's network namespace."""
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / str(pid) / "net" / name).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS_TCP:
                    yield fields[9], int(fields[1].rpartition(":")[2], 16)


def _unix(pid: int) -> Iterator[tuple[str, str | None]]:
    """Yield inode and path of each listening Unix socket in a process's network namespace."""
    with suppress(OSError):
        for line in (_PROC / str(pid) / "net/unix").read_text(errors="surrogateescape").splitlines():
            if match := _LISTENS_UNIX.match(line):
                yield match["inode"], match["path"]
