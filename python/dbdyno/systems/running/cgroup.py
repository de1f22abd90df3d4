"""Limits on a process, by control groups of either version: memory, processors, operations on a disk.

Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, and cgroup-v1/memory.rst, cgroup-v1/blkio-controller.rst
and scheduler/sched-bwc.rst for version 1.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dbdyno.errors import UserError
from dbdyno.leftovers.removal import remove_cgroups
from dbdyno.systems.running.guard import Guard

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "dbdyno-"
_PERIOD_US = 100_000
"""Period of a processor quota: the kernel's default."""
_LEAST_QUOTA_US = 1000
"""The kernel takes no less."""


@dataclass(frozen=True)
class Limit:
    """One limit, as either version has it.

    what: what is limited, for a person. controllers: of version 1 and of version 2. version1, version2: the files of a
    group and what is written to each; the first must be there. may_lack: files that some kernels leave out.
    """

    what: str
    controllers: tuple[str, str]
    version1: Mapping[str, str]
    version2: Mapping[str, str]
    may_lack: frozenset[str] = frozenset()


def memory_limit(limit_bytes: int) -> Limit:
    """Limit memory; what does not fit is not swapped out."""
    swap = {"memory.memsw.limit_in_bytes", "memory.swap.max"}
    ours = {"memory.limit_in_bytes": str(limit_bytes), "memory.memsw.limit_in_bytes": str(limit_bytes)}
    theirs = {"memory.max": str(limit_bytes), "memory.swap.max": "0"}
    return Limit("memory", ("memory", "memory"), ours, theirs, frozenset(swap))


def cpu_limit(cores: float) -> Limit:
    """Limit processor time, in processors' worth of it."""
    quota_us = max(_LEAST_QUOTA_US, round(cores * _PERIOD_US))
    ours = {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": str(quota_us)}
    return Limit("processors", ("cpu", "cpu"), ours, {"cpu.max": f"{quota_us} {_PERIOD_US}"})


def disk_limit(device: str, per_s: Mapping[str, float]) -> Limit:
    """Limit what is asked of a device (`8:0`) in a second. Later writes by the kernel itself are not limited.

    per_s: of `read_iops`, `write_iops` (operations), `read_bps` and `write_bps` (bytes) those to limit.
    """
    whole = {kind: max(1, round(limit)) for kind, limit in per_s.items()}
    ours = {f"blkio.throttle.{kind}_device": f"{device} {limit}" for kind, limit in whole.items()}
    short = {kind: kind[0] + kind.partition("_")[2] for kind in whole}
    theirs = " ".join(f"{short[kind]}={limit}" for kind, limit in whole.items())
    return Limit("the disk", ("blkio", "io"), ours, {"io.max": f"{device} {theirs}"})


class ControlGroup:
    """A control group of dbdyno's own, in which what is put is limited."""

    def __init__(self, limit: Limit, guard: Guard) -> None:
        """Make the group; raises UserError if the host does not allow it."""
        self._guard = guard
        for parent, version in _parents(limit):
            if path := _make(parent, limit, version, guard):
                self.path = path
                return
        raise UserError(f"this host does not let dbdyno limit {limit.what} (no writable cgroup)")

    def add(self, pid: int) -> None:
        """Put a process into the group, with all its threads."""
        _set(self.path / "cgroup.procs", str(pid))

    def remove(self) -> None:
        """Remove the group; its processes must have ended, or have been put elsewhere."""
        if remove_cgroups([self.path]):
            self._guard.tell("removed", self.path)


def memory_kill(group: Path) -> str | None:
    """Return what a group used and wanted when the kernel killed a process in it for its memory; None if it did not."""
    if not _count(group, ("memory.events", "memory.oom_control"), "oom_kill"):
        return None
    used = _count(group, ("memory.peak", "memory.max_usage_in_bytes"))
    said = f"it used {used >> 20} MiB and wanted more" if used else "it wanted more"
    wanted_kib = _address_space_kib(group)
    return f"{said} (it had asked for {wanted_kib >> 10:,} MiB of address space)" if wanted_kib else said


def _count(group: Path, files: tuple[str, str], name: str = "") -> int:
    """Return the number on a line that begins with `name`, from the file of version 2 or of version 1; 0 if none."""
    for file in files:
        with contextlib.suppress(OSError):
            match = re.search(rf"^{name} ?(\d+)$", (group / file).read_text(), re.MULTILINE)
            return int(match[1]) if match else 0
    return 0


def _address_space_kib(group: Path) -> int | None:
    """Return the address space of the process that was killed in a group; None if the kernel's log is not readable."""
    messages = _kernel_log()
    begin = max((i for i, message in enumerate(messages) if f"/{group.name}," in message), default=len(messages))
    for message in messages[begin:]:
        if match := re.search(r"Killed process .* total-vm:(\d+)kB", message):
            return int(match[1])
    return None


def _kernel_log() -> list[str]:
    """Return the messages of the kernel; none if this user may not read them."""
    messages: list[str] = []
    with contextlib.suppress(OSError):
        descriptor = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        try:
            # At the end the read fails: more could come.
            while True:
                with contextlib.suppress(BrokenPipeError):
                    messages.append(os.read(descriptor, 8192).decode(errors="replace"))
        finally:
            os.close(descriptor)
    return messages


def writes_to(groups: Iterable[Path], device: str) -> int:
    """Return how many writes to a device (`8:0`), flushes too, the processes of disk-limited groups have asked for."""
    return sum(_writes_in(group, device) for group in groups)


def _writes_in(group: Path, device: str) -> int:
    """Return the count of version 2 (`8:0 rios=1 wios=2`), or of version 1 (`8:0 Write 2`)."""
    ours, theirs = group / "io.stat", group / "blkio.throttle.io_serviced"
    for line in (ours if ours.exists() else theirs).read_text().splitlines():
        counted = re.match(rf"{device} (?:.*\bwios=|Write )(\d+)", line)
        if counted:
            return int(counted[1])
    return 0


@contextmanager
def limited(pids: list[int], limit: Limit, guard: Guard) -> Iterator[frozenset[Path]]:
    """Limit running processes meanwhile, and yield the groups they are in; afterwards they are as they were.

    A process that dbdyno has limited already is limited further in its group. In version 2 a process has one group for
    all limits, so it would escape the others in a new one.
    Raises UserError if the host does not allow it.
    """
    with contextlib.ExitStack() as stack:
        elsewhere, groups = [], set()
        for pid in pids:
            group, version = _group_of(pid, limit)
            if group.name.startswith(_PREFIX) and (group / next(iter(_files(limit, version)))).exists():
                stack.enter_context(_changed(group, _files(limit, version)))
                groups.add(group)
            else:
                elsewhere.append((pid, group))
        if elsewhere:
            groups.add(stack.enter_context(_moved(elsewhere, limit, guard)))
        yield frozenset(groups)


@contextmanager
def _changed(group: Path, files: Mapping[str, str]) -> Iterator[None]:
    before = {name: (group / name).read_text() for name in files}
    _write(group, files)
    try:
        yield
    finally:
        _write(group, {name: _as_written(text, files[name]) for name, text in before.items()})


def _as_written(text: str, instead_of: str) -> str:
    """Return the text that restores a file: our device's line, or that the device has no limit."""
    device, _, limits = instead_of.partition(" ")
    if ":" not in device:
        return text.strip()
    lines = [line for line in text.splitlines() if line.startswith(device + " ")]
    unlimited = " ".join(f"{limit.split('=')[0]}=max" for limit in limits.split()) if "=" in limits else "0"
    return lines[0] if lines else f"{device} {unlimited}"


@contextmanager
def _moved(pids: list[tuple[int, Path]], limit: Limit, guard: Guard) -> Iterator[Path]:
    group = ControlGroup(limit, guard)
    try:
        for pid, _ in pids:
            with contextlib.suppress(ProcessLookupError):
                group.add(pid)
        yield group.path
    finally:
        for pid, before in pids:
            with contextlib.suppress(OSError):
                _set(before / "cgroup.procs", str(pid))
        group.remove()


def _files(limit: Limit, version: int) -> Mapping[str, str]:
    return limit.version1 if version == 1 else limit.version2


def _own(line: str, limit: Limit) -> tuple[Path, Path, int] | None:
    """Return the root and the group that a line of `/proc/PID/cgroup` names, if the limit is set there."""
    _, controllers, path = line.split(":", maxsplit=2)
    if controllers and limit.controllers[0] not in controllers.split(","):
        return None
    root = _ROOT / controllers
    if not controllers and not (root / "cgroup.controllers").exists():
        root = _ROOT / "unified"
    return root, root / path.lstrip("/"), 1 if controllers else 2


def _group_of(pid: int, limit: Limit) -> tuple[Path, int]:
    """Return the group in which a process would be limited, and the version of it."""
    lines = _memberships(str(pid))
    for _, group, version in sorted(
        filter(None, (_own(line, limit) for line in lines)), key=lambda membership: membership[2]
    ):
        return group, version
    raise UserError(f"this host does not let dbdyno limit {limit.what} (no control groups)")


def _memberships(process: str) -> list[str]:
    """Return the lines of `/proc/PID/cgroup`: a hierarchy each, with its controllers and the group in it."""
    return Path(f"/proc/{process}/cgroup").read_text().splitlines()


def _parents(limit: Limit) -> list[tuple[Path, int]]:
    """Return the groups a group could be made in, with their version: our own, and those above it."""
    parents = []
    for line in _memberships("self"):
        if membership := _own(line, limit):
            root, own, version = membership
            groups = (own, *(above for above in own.parents if above.is_relative_to(root)))
            parents += [(group, version) for group in groups]
    return parents


def _make(parent: Path, limit: Limit, version: int, guard: Guard) -> Path | None:
    """Make a group with a limit in `parent`, or return None if that cannot be done there."""
    if not os.access(parent, os.W_OK):
        return None
    try:
        path = guard.new_cgroup(parent)
    except OSError:
        return None
    first = path / next(iter(_files(limit, version)))
    if version == 2 and not first.exists():
        with contextlib.suppress(OSError):
            _set(parent / "cgroup.subtree_control", f"+{limit.controllers[1]}")
    try:
        if first.exists():
            _write(path, _files(limit, version), limit.may_lack)
            return path
    except OSError:
        # The device cannot be limited, or a group above allows less: there may be another place.
        pass
    path.rmdir()
    guard.tell("removed", path)
    return None


def _write(group: Path, files: Mapping[str, str], may_lack: frozenset[str] = frozenset()) -> None:
    for name, text in files.items():
        with contextlib.suppress(OSError) if name in may_lack else contextlib.nullcontext():
            _set(group / name, text)


def _set(file: Path, text: str) -> None:
    """Write a file of a control group, which is there or cannot be made."""
    with file.open("r+") as there:
        there.write(text)
