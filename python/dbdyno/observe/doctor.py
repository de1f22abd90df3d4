"""Finds what on this host would spoil a measurement, with advice."""

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from dbdyno.observe.environment import chosen, read_first, virtualization
from dbdyno.observe.stacks.permission import in_words, not_seen

WATCH_S = 1.0
BUSY_CPU_SHARE = 0.1
"""Share of one processor: another process that uses more is named."""
STEAL_SHARE = 0.01
FREE_DISK_BYTES = 5 << 30
FREE_MEMORY_BYTES = 1 << 30
FILES_MIN = 4096


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Attributes:
        fine: nothing is wrong with it.
        what: what was observed.
        advice: what to do if it is not fine.
        name: in a list of what is fine.
        spoils: it spoils a measurement if it is not fine; else it is good to know.
    """

    fine: bool
    what: str
    advice: str = ""
    name: str = ""
    spoils: bool = True


def examine(data_directory: Path | None, profile: bool = True) -> list[Finding]:
    """Look at the host for about a second.

    Args:
        data_directory: where private servers keep their data; `None` if there are none.
        profile: look whether stacks can be recorded.
    """
    checks: list[Callable[[], Finding]] = [
        _cpus,
        _governor,
        _turbo,
        _autogroup,
        _virtual,
        _memory,
        _swap,
        _hugepages,
        _open_files,
    ]
    if profile:
        checks.append(_stacks)
    if data_directory:
        checks += [partial(_disk, data_directory), partial(_filesystem, data_directory)]
    return [*_busy(), *(check() for check in checks)]


def _busy() -> list[Finding]:
    """Watch the processors and all processes for a moment."""
    watched = {process.pid: process for process in psutil.process_iter()}
    own = os.getpid()
    before, cpu_before = {pid: _cpu_s(process) for pid, process in watched.items()}, psutil.cpu_times()
    time.sleep(WATCH_S)
    used = {pid: (_cpu_s(process) - before[pid]) / WATCH_S for pid, process in watched.items() if pid != own}
    cpu_after = psutil.cpu_times()
    busy = sorted(((share, pid) for pid, share in used.items() if share > BUSY_CPU_SHARE), reverse=True)
    names = ", ".join(f"{_name(watched[pid])} ({pid}) {share:.0%}" for share, pid in busy[:3])
    total = sum(cpu_after) - sum(cpu_before)
    steal = (getattr(cpu_after, "steal", 0.0) - getattr(cpu_before, "steal", 0.0)) / total if total else 0.0
    load = os.getloadavg()[0]
    return [
        Finding(
            not busy,
            f"other processes busy: {names or 'none'}",
            "end them, or measure when they have ended",
            "other processes",
        ),
        Finding(
            load < 0.5 * (os.cpu_count() or 1),
            f"load average of the last minute: {load:.2f}",
            "wait until it has fallen",
            "load average",
        ),
        Finding(
            steal < STEAL_SHARE, f"CPU time the hypervisor gave to others: {steal:.1%}", "use another host", "CPU time"
        ),
    ]


def _cpu_s(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _name(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.Error:
        return "ended"


def _cpus() -> Finding:
    usable = len(os.sched_getaffinity(0))
    return Finding(
        usable >= 4,
        f"processors to use: {usable}",
        "client and server share them; pin them apart (cpus), or put the server on another host",
        "processors",
        spoils=False,
    )


def _governor() -> Finding:
    governor = read_first("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return Finding(
        governor in (None, "performance"),
        f"CPU governor: {governor or 'not observable here'}",
        "cpupower frequency-set -g performance",
        "CPU governor",
    )


def _turbo() -> Finding:
    no_turbo = read_first("/sys/devices/system/cpu/intel_pstate/no_turbo")
    boost = read_first("/sys/devices/system/cpu/cpufreq/boost")
    on = no_turbo == "0" or boost == "1"
    seen = "on" if on else ("off" if no_turbo or boost else "not observable here")
    advice = "the clock falls as more cores work, which bends every curve; turn it off"
    return Finding(not on, f"turbo: {seen}", advice, "turbo", spoils=False)


def _autogroup() -> Finding:
    enabled = read_first("/proc/sys/kernel/sched_autogroup_enabled")
    by = {"0": "thread", "1": "session"}.get(enabled or "")
    return Finding(
        by != "session",
        f"processors are shared by {by}" if by else "how processors are shared: not observable here",
        "nice works only within a session, so other work does not give way: sysctl kernel.sched_autogroup_enabled=0",
        "scheduler",
        spoils=False,
    )


def _virtual() -> Finding:
    layers = virtualization()
    return Finding(
        not layers,
        f"between dbdyno and the hardware: {', '.join(layers) or 'nothing'}",
        "other virtual machines may use the processors at any time; repeat trials (--repeat 5)",
        "hardware",
        spoils=False,
    )


def _memory() -> Finding:
    available = psutil.virtual_memory().available
    what = f"memory available: {available / (1 << 30):.1f} GiB"
    return Finding(available >= FREE_MEMORY_BYTES, what, "end what uses it", "memory")


def _swap() -> Finding:
    used = psutil.swap_memory().used
    return Finding(used == 0, f"swap in use: {used >> 20} MiB", "swapoff -a, if memory suffices", "swap")


def _hugepages() -> Finding:
    mode = chosen(read_first("/sys/kernel/mm/transparent_hugepage/enabled"))
    return Finding(
        mode != "always",
        f"transparent huge pages: {mode or 'not observable here'}",
        "stalls in Redis and others: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        "transparent huge pages",
        spoils=False,
    )


def _open_files() -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = soft >= FILES_MIN or soft == resource.RLIM_INFINITY
    return Finding(enough, f"open files allowed: {soft}", f"ulimit -n {FILES_MIN * 4}", "open files")


def _stacks() -> Finding:
    reasons = in_words(not_seen())
    cannot = f"cannot be recorded: {', '.join(reasons)}"
    what = f"for --profile stacks {cannot if reasons else 'can be recorded'}"
    return Finding(not reasons, what, "; ".join(reasons.values()), "stacks", spoils=False)


def _disk(directory: Path) -> Finding:
    free = psutil.disk_usage(str(directory)).free
    return Finding(
        free >= FREE_DISK_BYTES,
        f"free in {directory}: {free / (1 << 30):.1f} GiB",
        "free some, or set DBDYNO_DATA_DIR to another directory",
        "disk space",
    )


def _filesystem(directory: Path) -> Finding:
    """A flush to a file system in memory costs nothing and keeps nothing."""
    resolved = directory.resolve()
    mounts = [part for part in psutil.disk_partitions(all=True) if resolved.is_relative_to(part.mountpoint)]
    kind = max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else "unknown"
    return Finding(
        kind not in ("tmpfs", "ramfs"),
        f"file system of {directory}: {kind}",
        "a flush costs nothing there, so durable writes look free; set DBDYNO_DATA_DIR to a directory on a disk",
        "file system",
    )
