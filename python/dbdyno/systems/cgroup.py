"""A memory limit for one server, by a control group."""

import contextlib
import os
import tempfile
from pathlib import Path

from dbdyno.errors import UserError
from dbdyno.systems.guard import Guard

_ROOT = Path("/sys/fs/cgroup")


class MemoryCgroup:
    """A control group (version 1 or 2) that holds one server and limits its memory."""

    def __init__(self, limit_bytes: int, guard: Guard) -> None:
        """Make the group; raises UserError where the host does not allow it."""
        self._guard = guard
        self.limit_bytes = limit_bytes
        for parent in _parents():
            if path := _make(parent, limit_bytes):
                self.path = path
                guard.tell("cgroup", path)
                return
        raise UserError("memory_limit: this host does not let dbdyno limit memory (no writable cgroup); leave it out")

    def add(self, pid: int) -> None:
        """Put a process, just started, into the group."""
        (self.path / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """Remove the group; its processes must have ended."""
        with contextlib.suppress(OSError):
            self.path.rmdir()
        self._guard.tell("removed", self.path)


def _parents() -> list[Path]:
    """Return the groups a group could be made in: our own, those above it, and the memory controller's root."""
    parents = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", maxsplit=2)
        if controllers not in ("", "memory"):
            continue
        root = _ROOT / controllers
        own = root / path.lstrip("/")
        parents += [own, *(above for above in own.parents if above.is_relative_to(root))]
    return parents


def _make(parent: Path, limit_bytes: int) -> Path | None:
    """Make a group with a limit in `parent`, or return None if that cannot be done there."""
    if not os.access(parent, os.W_OK):
        return None
    try:
        path = Path(tempfile.mkdtemp(prefix="dbdyno-", dir=parent))
    except OSError:
        return None
    for memory, swap, swap_limit in (
        ("memory.max", "memory.swap.max", 0),
        ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", limit_bytes),
    ):
        if (path / memory).exists():
            (path / memory).write_text(str(limit_bytes))
            with contextlib.suppress(OSError):
                (path / swap).write_text(str(swap_limit))
            return path
    path.rmdir()
    return None
