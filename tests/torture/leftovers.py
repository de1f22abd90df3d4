"""Leftovers of a run: processes, ports, directories, memory, devices, mounts, groups and kernel settings.

Orphans of a run fall to this process (`isolation.adopt_orphans`). So whatever a run started is below it, whoever
started it and however those ended, and no other dbdyno's processes are.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from torture.isolation import NAMES_OF_NETWORKS

_SYSCTLS = ("kernel.task_delayacct", "kernel.perf_event_paranoid", "kernel.kptr_restrict")
_SYSV = {"shm": "-m", "sem": "-s", "msg": "-q"}


@dataclass(frozen=True, order=True)
class Leftover:
    """One thing that is there. kind: of what; name: which; about: its description for a person."""

    kind: str
    name: str
    about: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" + (f" ({self.about})" if self.about else "")


def below(keep: frozenset[int] = frozenset(), waited_for: int | None = None) -> list[psutil.Process]:
    """Return the live processes below this one but for those in `keep` and what is below these.

    Orphans that have ended are reaped. waited_for: a child that somebody else waits for, by its process number.
    """
    alive: list[psutil.Process] = []
    for child in psutil.Process().children():
        if child.pid in keep:
            continue
        with suppress(psutil.NoSuchProcess):
            if is_alive(child):
                alive += [child, *(descendant for descendant in child.children(recursive=True) if is_alive(descendant))]
            elif child.pid != waited_for:
                with suppress(ChildProcessError):
                    os.waitpid(child.pid, os.WNOHANG)
    return alive


def is_alive(process: psutil.Process) -> bool:
    """Return whether it has not ended; one that nobody waited for has."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def describe(process: psutil.Process) -> str:
    """Return what a process is, in a few words."""
    try:
        words = process.cmdline() or [process.name()]
        return f"{' '.join([Path(words[0]).name, *words[1:]])[:90]}, {process.status()}"
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return "gone meanwhile"


@dataclass(frozen=True)
class Snapshot:
    """Everything there that a run could leave. counted: the kinds looked for; others could belong to strangers."""

    there: frozenset[Leftover]
    counted: frozenset[str]

    def since(self, before: Snapshot) -> set[Leftover]:
        """Return what was not there before, of the kinds looked for both times."""
        return {leftover for leftover in self.there - before.there if leftover.kind in self.counted & before.counted}


def snapshot(folder: Path, isolated: bool, keep: frozenset[int] = frozenset()) -> Snapshot:
    """Return what is there now.

    folder: where a case has its files. isolated: as `isolation.isolate` said.
    """
    processes = below(keep)
    looks: dict[str, Callable[[], Iterable[str]]] = {kind: partial(look, folder) for kind, look in _BELOW.items()}
    if alone := not strangers(processes):
        looks |= _HOSTS
    if isolated or alone:
        looks |= _PRIVATE
    leftovers = {Leftover("process", str(process.pid), describe(process)) for process in processes}
    leftovers |= {Leftover(kind, name) for kind, look in looks.items() for name in look()}
    return Snapshot(frozenset(leftovers), frozenset({"process", *looks}))


def strangers(own: list[psutil.Process]) -> bool:
    """Return whether somebody else's dbdyno runs on this host: what is the whole host's could then be of either."""
    known = {process.pid for process in own}
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if process.pid not in known and "dbdyno.leftovers" in process.cmdline():
                return True
    return False


def _directories(folder: Path) -> Iterator[str]:
    """Yield what is in the directories for data, for temporary files, and for journals of runs."""
    for name in ("data", "tmp", "state"):
        for path in (folder / name).glob("*"):
            yield str(path.relative_to(folder))


def _mounts(folder: Path) -> list[str]:
    fields = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [mount_point for _, mount_point, *_ in fields if Path(mount_point).is_relative_to(folder)]


def _loops(folder: Path) -> Iterator[str]:
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            if str(folder) in backing.read_text():
                yield f"/dev/{backing.parts[3]}"


def _listening() -> list[str]:
    there = psutil.net_connections("tcp")
    return [
        f"{connection.laddr.ip}:{connection.laddr.port}"
        for connection in there
        if connection.status == psutil.CONN_LISTEN
    ]


def _shared_memory() -> list[str]:
    return [str(path) for path in Path("/dev/shm").iterdir()]


def _system_v(kind: str) -> list[str]:
    return [line.split()[1] for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]]


def _groups() -> list[str]:
    root = Path("/sys/fs/cgroup")
    return [str(path) for pattern in ("dbdyno-*", "*/dbdyno-*", "*/*/dbdyno-*") for path in root.glob(pattern)]


def _namespaces() -> list[str]:
    return [path.name for path in NAMES_OF_NETWORKS.iterdir()] if NAMES_OF_NETWORKS.is_dir() else []


def _sysctl(name: str) -> str:
    try:
        return Path("/proc/sys", *name.split(".")).read_text().strip()
    except OSError:
        return "not readable"


_BELOW: dict[str, Callable[[Path], Iterable[str]]] = {
    "directory": _directories,
    "mount": _mounts,
    "loop device": _loops,
}
"""The kinds whose owner shows in where a case has its files."""
_PRIVATE: dict[str, Callable[[], list[str]]] = {
    "port": _listening,
    "shared memory": _shared_memory,
    "network namespace": _namespaces,
    **{f"System V {kind}": partial(_system_v, kind) for kind in _SYSV},
}
"""The kinds in their own namespace if there is one."""
_HOSTS: dict[str, Callable[[], list[str]]] = {
    "control group": _groups,
    "kernel setting": lambda: [f"{name} = {_sysctl(name)}" for name in _SYSCTLS],
}
"""The kinds that are the whole host's in any case."""


def wait_for_the_end(patience_s: float, keep: frozenset[int] = frozenset()) -> list[psutil.Process]:
    """Wait until no process of a case is left; return those that are when patience ends."""
    deadline = time.monotonic() + patience_s
    while (left := below(keep)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def sweep(folder: Path, leftovers: set[Leftover], keep: frozenset[int] = frozenset()) -> None:
    """Remove what a case left, so that the next one is not charged with it: those things by name, and no others."""
    for process in below(keep):
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    wait_for_the_end(10, keep)
    for leftover in leftovers:
        match leftover.kind:
            case "mount":
                subprocess.run(["umount", "--lazy", leftover.name], check=False, capture_output=True)
            case "loop device":
                subprocess.run(["losetup", "--detach", leftover.name], check=False, capture_output=True)
            case "shared memory":
                Path(leftover.name).unlink(missing_ok=True)
            case "network namespace":
                subprocess.run(["ip", "netns", "delete", leftover.name], check=False, capture_output=True)
            case "control group":
                with suppress(OSError):
                    Path(leftover.name).rmdir()
            case "kernel setting" if leftover.name == "kernel.task_delayacct = 1":
                Path("/proc/sys/kernel/task_delayacct").write_text("0")
            case kind if kind.startswith("System V"):
                option = _SYSV[kind.rpartition(" ")[2]]
                subprocess.run(["ipcrm", option, leftover.name], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)
