"""The processes of this host that are servers: by number, or by the name of their program."""

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class ServerOfHost:
    """A process of this host.

    name: its program's, without points, which separate the parts of a column's name. directory: the one it works in,
    where servers keep their data; None if this user may not know it. forks: it has children of the same program.
    """

    pid: int
    name: str
    directory: Path | None
    forks: bool


def server_of(pid: int) -> ServerOfHost | None:
    """Return a process of this host; None if there is none of this number."""
    name = _command(pid)
    if name is None:
        return None
    directory = None
    with suppress(OSError):
        directory = Path(os.readlink(PROC / str(pid) / "cwd"))
    forks = any(_command(child) == name for child in _children(pid))
    is_there = directory is not None and directory.is_dir()
    return ServerOfHost(pid, name.replace(".", "-"), directory if is_there else None, forks)


def running(programs: Collection[str]) -> list[ServerOfHost]:
    """Return the processes whose program has one of these names, without those that they forked."""
    pids = {pid for pid in _pids() if {_command(pid), _executable(pid)} & set(programs)}
    firsts = [pid for pid in sorted(pids) if _parent(pid) not in pids]
    return [server for pid in firsts if (server := server_of(pid))]


def _pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def _command(pid: int) -> str | None:
    with suppress(OSError):
        return (PROC / str(pid) / "comm").read_text(errors="replace").strip()
    return None


def _executable(pid: int) -> str | None:
    with suppress(OSError):
        return Path(os.readlink(PROC / str(pid) / "exe")).name
    return None


def _parent(pid: int) -> int | None:
    with suppress(OSError, IndexError, ValueError):
        return int((PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    return None


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()]
    return []
