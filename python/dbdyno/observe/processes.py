"""CPU and memory of processes, all their threads together."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import psutil


class ProcessSampler:
    """Samples a few processes, each with a name: `client`, `mariadb` …"""

    def __init__(self, pids: Mapping[str, int], with_children: str | None = None) -> None:
        """Take the processes, name to pid; one that is gone already is left out of every sample.

        with_children: the one whose children, the ended ones too, count with it.
        """
        self._with_children = with_children
        self._processes: dict[str, psutil.Process] = {}
        for name, pid in pids.items():
            try:
                self._processes[name] = psutil.Process(pid)
            except psutil.NoSuchProcess:
                continue

    def sample(self) -> list[dict[str, Any]]:
        """Return a line of `processes.jsonl` for each process still there: CPU in s since it began, memory in bytes."""
        lines = []
        for name, process in list(self._processes.items()):
            try:
                used = _used(process)
                if name == self._with_children:
                    used = _with_children(process, used)
            except psutil.Error:
                del self._processes[name]
                continue
            lines.append(
                {
                    "at_unix_s": round(time.time(), 3),
                    "process": name,
                    "pid": process.pid,
                    "cpu_s": round(used.cpu_s, 2),
                    "resident_bytes": used.resident_bytes,
                    "threads": used.threads,
                }
            )
        return lines


class _Used(NamedTuple):
    cpu_s: float
    resident_bytes: int
    threads: int


def _used(process: psutil.Process) -> _Used:
    with process.oneshot():
        cpu, memory, threads = process.cpu_times(), process.memory_info(), process.num_threads()
    return _Used(cpu.user + cpu.system, memory.rss, threads)


def _with_children(process: psutil.Process, own: _Used) -> _Used:
    """Return what a process and its children used; a page that several of them share counts for each."""
    ended = process.cpu_times()
    all_used = [own, _Used(ended.children_user + ended.children_system, 0, 0)]
    for child in process.children():
        # One that ends meanwhile is among the ended ones the next time.
        with suppress(psutil.Error):
            all_used.append(_used(child))
    return _Used(*map(sum, zip(*all_used, strict=True)))
