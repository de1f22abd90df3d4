"""The band `threads`: the busiest thread of each name in a process, since one thread can be full while others idle."""

import re
import time
from collections.abc import Mapping

MOST_NAMES = 16
"""Names that are recorded of one process: the first that were worth it. A Java program has a hundred."""
WORTH_RECORDING = 0.05
"""Share of one processor: a name whose busiest thread used less, and waited less, is not recorded."""
_TITLE = re.compile(rb"postgres: (?:[^:]+: )?(.*)")
"""The command line that PostgreSQL gives its processes: with `cluster_name`, if it has one, and what they do."""
_CLIENT = re.compile(r"\(\d+\)|\[local\]")
_TASKS = (
    *("checkpointer", "background writer", "walwriter", "autovacuum launcher", "autovacuum worker", "walsender"),
    *("walreceiver", "archiver", "startup", "io worker", "parallel worker", "logical replication"),
)
"""Tasks of PostgreSQL's processes, as the first words of their titles; a database or a number may follow."""
Use = tuple[str, int, int]
"""A thread's name, its ns on a processor, and its ns on the run queue."""


class BusiestThreads:
    """Compares two looks at all threads of a process."""

    def __init__(self, band: str) -> None:
        """Take what its columns begin with."""
        self._band = band
        self._last: Mapping[str, Use] = {}
        self._at: float | None = None
        self._columns: dict[str, float] = {}
        self._names: set[str] = set()

    def see(self, used: Mapping[str, Use]) -> None:
        """Take a look: thread id to use."""
        now = time.monotonic()
        self._columns = self._compared(used, now - self._at) if self._at is not None and now > self._at else {}
        self._last, self._at = used, now

    def columns(self) -> dict[str, float]:
        """Return for each name the shares of the time that its busiest thread was on a processor and waited for one.

        Beside them are the processors that all threads of the name used together.
        """
        return self._columns

    def _compared(self, used: Mapping[str, Use], elapsed_s: float) -> dict[str, float]:
        by_name: dict[str, list[tuple[float, float]]] = {}
        for tid, (name, cpu_ns, wait_ns) in used.items():
            # What has used more than there was time since the last look was there then, and not seen.
            began = cpu_ns + wait_ns <= elapsed_s * 1e9
            _, cpu_before, wait_before = self._last.get(tid, (name, 0, 0) if began else (name, cpu_ns, wait_ns))
            shares = tuple(max(0, ns) * 1e-9 / elapsed_s for ns in (cpu_ns - cpu_before, wait_ns - wait_before))
            by_name.setdefault(name, []).append((shares[0], shares[1]))
        columns: dict[str, float] = {}
        for name in sorted(by_name, key=lambda name: -max(map(sum, by_name[name]))):
            busiest = max(by_name[name], key=sum)
            worth = sum(busiest) >= WORTH_RECORDING and len(self._names) < MOST_NAMES
            if name not in self._names and not worth:
                continue
            self._names.add(name)
            cores = sum(cpu for cpu, _ in by_name[name])
            values = {"busiest_cpu": busiest[0], "busiest_run_queue": busiest[1], "cores": cores}
            columns |= {f"{self._band}.{name}.{what}": value for what, value in values.items()}
        return columns


def name_of(status: bytes) -> str:
    """Return a thread's name from its `status`, without what would split a column's name."""
    return status[6 : status.index(b"\n")].decode(errors="replace").replace(".", "-")


def name_of_title(command_line: bytes) -> str | None:
    """Return what a process does that says so in its command line, as PostgreSQL's do; `None` if it does not."""
    match = _TITLE.match(command_line.rstrip(b"\0 "))
    if not match:
        return None
    title = match[1].decode(errors="replace")
    task = next((task for task in _TASKS if title.startswith(task)), None)
    return task or ("backend" if _CLIENT.search(title) else None)
