"""Removing what a run left: each kind its own way, servers first."""

import shutil
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dbdyno.leftovers.journal import Entries, Journal, journals
from dbdyno.leftovers.processes import end_processes
from dbdyno.leftovers.shared_memory import remove_shared_memory
from dbdyno.leftovers.switch import switch_off

_CGROUP_TIMEOUT_S = 2.0
_LOOP_TIMEOUT_S = 5.0
_BLOCK_DEVICES = Path("/sys/block")
_POLL_S = 0.02


def sweep() -> None:
    """Remove what runs left that were killed together with their guards."""
    for path in journals():
        if journal := Journal.take(path, wait=False):
            remove_left(journal.entries(), ends_now=False)
            journal.remove()


def remove_all(journal: Journal) -> None:
    """Remove all that the journal of a run names that has just ended, and then the journal."""
    remove_left(journal.entries(), ends_now=True)
    journal.remove()


def remove_left(left: Entries, ends_now: bool) -> None:
    """Remove all of `left`. ends_now: of a run that ends now, not of one that did so long ago."""
    end_processes(left.processes, left.directories, with_groups=ends_now)
    for directory in left.directories:
        remove_shared_memory(directory / "data")
    for mounted in left.mounts:
        subprocess.run(["umount", "--lazy", str(mounted)], check=False, capture_output=True)
    _free_loop_devices(left.directories)
    for directory in left.directories:
        shutil.rmtree(directory, ignore_errors=True)
    remove_cgroups(left.cgroups)
    for setting in left.switches:
        switch_off(setting, users_of(setting))


def _free_loop_devices(directories: Iterable[Path]) -> None:
    """Wait until no loop device has a file below `directories`; free those that stay.

    The kernel frees a device some time after its file system is unmounted. One stays if `mount` was killed halfway.
    """
    deadline = time.monotonic() + _LOOP_TIMEOUT_S
    while (devices := _loop_devices(directories)) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    for device in devices:
        subprocess.run(["losetup", "--detach", device], check=False, capture_output=True)


def _loop_devices(directories: Iterable[Path]) -> list[str]:
    devices = []
    for backing in _BLOCK_DEVICES.glob("loop*/loop/backing_file"):
        with suppress(OSError):
            file = Path(backing.read_text().strip())
            if any(file.is_relative_to(directory) for directory in directories):
                devices.append(f"/dev/{backing.parts[-3]}")
    return devices


def remove_cgroups(groups: Iterable[Path]) -> bool:
    """Remove control groups, and return if they are gone; what is in them is put into the group above, unlimited."""
    deadline = time.monotonic() + _CGROUP_TIMEOUT_S
    while left := [group for group in groups if group.exists()]:
        for group in left:
            with suppress(OSError):
                group.rmdir()
                continue
            with suppress(OSError):
                for pid in (group / "cgroup.procs").read_text().split():
                    (group.parent / "cgroup.procs").write_text(pid)
        if time.monotonic() > deadline:
            return False
        # The kernel keeps a group for a moment after its last process has ended.
        time.sleep(_POLL_S)
    return True


def users_of(setting: Path) -> Path:
    """Return the file that the runs which need a setting have locked: beside it, or for the kernel's own in /run."""
    in_kernel = setting.is_relative_to("/proc")
    return Path("/run") / f"dbdyno-{setting.name}.users" if in_kernel else setting.with_name(f"{setting.name}.users")
