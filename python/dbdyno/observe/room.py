"""How much room a host has for data: on its disk, and in memory."""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from dbdyno.observe.cgroup import groups_of
from dbdyno.observe.environment import data_directory

_LIMITS = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
"""Files of control groups of version 2 and of version 1."""


@dataclass(frozen=True)
class FreeRoom:
    """Bytes that are free. directory: where servers keep their data."""

    directory: str
    disk_bytes: int
    memory_bytes: int


def free_room(limit_bytes: int | None, directory: Path | None = None) -> FreeRoom:
    """Return this host's room for a server whose memory may be limited, with its data below `directory` if given."""
    directory = directory or data_directory()
    return FreeRoom(str(directory), shutil.disk_usage(directory).free, free_memory_bytes(limit_bytes))


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
