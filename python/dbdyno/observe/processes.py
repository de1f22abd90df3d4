"""CPU and memory of processes, all their threads together."""

import time
from collections.abc import Mapping
from typing import Any

import psutil


class ProcessSampler:
    """Samples a few processes, each with a name: `client`, `mariadb` …"""

    def __init__(self, pids: Mapping[str, int]) -> None:
        """Take the processes, name to pid; one that is gone already is left out of every sample."""
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
                with process.oneshot():
                    cpu, memory, threads = process.cpu_times(), process.memory_info(), process.num_threads()
            except psutil.Error:
                del self._processes[name]
                continue
            lines.append(
                {
                    "at_unix_s": round(time.time(), 3),
                    "process": name,
                    "pid": process.pid,
                    "cpu_s": round(cpu.user + cpu.system, 2),
                    "resident_bytes": memory.rss,
                    "threads": threads,
                }
            )
        return lines
