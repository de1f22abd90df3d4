"""The lock on a run's folder (flock(2)): a run holds it while it goes on, and the kernel frees it after any end."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbdyno.errors import UserError


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock on a run's folder inside; on a file system without locks there is none.

    Raises:
        UserError: another process holds it, so the run still goes on.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not _lock(descriptor):
            raise UserError(f"{folder}: this run is still going on; wait for its end, or interrupt it")
        yield
    finally:
        os.close(descriptor)


def is_running(folder: Path) -> bool:
    """Return whether a process holds the lock on a run's folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Take the lock if nobody has it; returns whether that was so."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # NFS gives no lock on a directory. Two sessions of one run are then not kept apart.
        return True
    return True
