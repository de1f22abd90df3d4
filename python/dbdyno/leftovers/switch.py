"""A kernel setting that several runs switch on together: the last of them switches it off.

Each run holds a shared lock (flock(2)) on one file while it needs the setting, and the kernel frees the lock whatever
ends the run. Whoever then gets the lock alone was the last. The file says if dbdyno switched the setting on at all: one
that the host's owner switched on stays on.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

_OFF, _ON = "0", "1"


def switch_on(setting: Path, users: Path) -> int | None:
    """Switch `setting` on, and return the descriptor of the lock on `users` that keeps it on; None if it was on before.

    Raises OSError if that is not permitted.
    """
    descriptor = os.open(users, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        # From here on nobody switches it off.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        # In this order: another run may be about to switch it on, and says so before it does.
        if setting.read_text().strip() == _OFF:
            os.pwrite(descriptor, _boot().encode(), 0)
            _set(setting, descriptor)
        elif not _is_ours(descriptor):
            os.close(descriptor)
            return None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _set(setting: Path, descriptor: int) -> None:
    try:
        setting.write_text(_ON)
    except OSError:
        os.ftruncate(descriptor, 0)
        raise


def switch_off(setting: Path, users: Path) -> None:
    """Switch `setting` off if dbdyno switched it on and no run needs it any more."""
    with suppress(OSError):
        descriptor = os.open(users, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_ours(descriptor):
                setting.write_text(_OFF)
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)


def _is_ours(descriptor: int) -> bool:
    """Return whether dbdyno switched it on, since the host was started."""
    return os.pread(descriptor, 100, 0).decode(errors="replace") == _boot()


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
