"""The band `process`: what a process used, all its threads together, those that ended too.

A process's own `schedstat` and `status` cover its first thread alone, so these are read of every thread.
"""

import os
import time
from collections.abc import Mapping
from typing import Generic, TypeVar

from dbdyno.observe import delay_accounting
from dbdyno.observe.busiest import BusiestThreads, Use, name_of, name_of_title
from dbdyno.observe.procfs import PAGE_BYTES, TICK_S, Kept, NotSeen, fields_of_stat, read

_Key = TypeVar("_Key")

TASKS_A_SECOND = 64
"""A thread costs about 25 µs to read. So if a process has more threads, all are read every second or third time, and so
are the bytes and the memory of a server of as many processes."""
_MAJOR_FAULTS, _CHILDREN_MAJOR_FAULTS, _THREADS, _RESIDENT, _IO_DELAY = 9, 10, 17, 21, 39
_UTIME, _STIME, _CHILDREN_UTIME, _CHILDREN_STIME = 11, 12, 13, 14


class ProcessSampler:
    """Reads `/proc/PID` of one process and `/proc/PID/task/*` of its threads."""

    def __init__(self, name: str, pid: int, not_seen: NotSeen, with_children: bool = False) -> None:
        """Take a process; one that has ended is left out of every sample.

        with_children: its children count with it, the ended ones too; a page that several share counts for each.
        """
        self._band = f"process.{name}"
        self._pid, self._with_children = pid, with_children
        self._tasks, self._transferred = Accumulated[str](4), Accumulated[int](2)
        self._busiest = BusiestThreads(f"threads.{name}")
        self._files = Kept()
        self._titles: dict[int, str] = {}
        self._until_tasks = 0.0
        self._not_seen = not_seen
        self._last_delays: dict[str, int] = {}
        self._last_at: float | None = None
        self._io_seen, self._delay_seen = True, True
        if reason := delay_accounting.missing():
            self._delay_seen = False
            not_seen["process.*.io_delay_s_total"] = reason
        self._check(not_seen)

    def _check(self, not_seen: NotSeen) -> None:
        """See what may be read of the process: of somebody else's not everything is open to all."""
        refused = "the system does not let this user look into that process"
        try:
            read(f"/proc/{self._pid}/stat")
            read(f"/proc/{self._pid}/io")
        except PermissionError:
            self._io_seen = False
            not_seen[f"{self._band}.read_bytes_total"] = refused
        except (FileNotFoundError, ProcessLookupError):
            # If /proc hides other users' processes (hidepid), theirs seem to be missing; signal 0 tells.
            if _is_there(self._pid):
                not_seen[self._band] = refused

    def sample(self) -> dict[str, float]:
        """Return CPU in s, bytes, faults, threads, waits and switches of all threads; nothing if it has ended."""
        try:
            pids = self._pids()
            stats = {pid: fields_of_stat(self._files.read(f"/proc/{pid}/stat")) for pid in pids}
        except (OSError, ValueError):
            return {}
        own = stats[self._pid]
        ended = (_CHILDREN_UTIME, _CHILDREN_STIME, _CHILDREN_MAJOR_FAULTS)
        user, system, faults = (int(own[field]) if self._with_children else 0 for field in ended)
        seen = {
            "cpu_user_s_total": (sum(int(stat[_UTIME]) for stat in stats.values()) + user) * TICK_S,
            "cpu_system_s_total": (sum(int(stat[_STIME]) for stat in stats.values()) + system) * TICK_S,
            "major_faults_total": sum(int(stat[_MAJOR_FAULTS]) for stat in stats.values()) + faults,
            "resident_bytes": sum(int(stat[_RESIDENT]) for stat in stats.values()) * PAGE_BYTES,
            "threads": sum(int(stat[_THREADS]) for stat in stats.values()),
        }
        all_due = self._until_tasks <= 0
        if all_due or len(pids) == 1:
            seen["private_bytes"] = self._private_bytes(pids)
            if self._io_seen:
                seen |= self._transfers(pids)
        if all_due:
            self._until_tasks = seen["threads"] / TASKS_A_SECOND
            seen |= self._of_tasks(stats)
        self._until_tasks -= 1
        columns = {f"{self._band}.{name}": value for name, value in seen.items()}
        return columns | (self._busiest.columns() if all_due else {})

    def _pids(self) -> list[int]:
        if not self._with_children:
            return [self._pid]
        children = read(f"/proc/{self._pid}/task/{self._pid}/children").split()
        # One that ends meanwhile is among the ended ones the next time.
        return [self._pid, *(int(child) for child in children if _is_there(int(child)))]

    def _private_bytes(self, pids: list[int]) -> int:
        """Return the memory that no file and no other process shares; of what ended meanwhile none."""
        pages = 0
        for pid in pids:
            try:
                _, resident, shared = map(int, self._files.read(f"/proc/{pid}/statm").split()[:3])
            except OSError:
                continue  # It ended meanwhile.
            pages += resident - shared
        return pages * PAGE_BYTES

    def _transfers(self, pids: list[int]) -> dict[str, float]:
        seen = {}
        for pid in pids:
            try:
                values = dict(line.split(b": ") for line in self._files.read(f"/proc/{pid}/io").splitlines())
            except OSError:
                continue  # It ended meanwhile: its last figures stay counted.
            seen[pid] = (int(values[b"read_bytes"]), int(values[b"write_bytes"]))
        read_bytes, written_bytes = self._transferred.add(seen)
        return {"read_bytes_total": read_bytes, "written_bytes_total": written_bytes}

    def _of_tasks(self, stats: Mapping[int, list[bytes]]) -> dict[str, float]:
        seen: dict[str, tuple[int, ...]] = {}
        used: dict[str, Use] = {}
        for pid, stat in stats.items():
            for tid in _tids(pid, int(stat[_THREADS])):
                try:
                    seen[tid], (name, cpu_ns, wait_ns) = self._task(f"/proc/{pid}/task/{tid}")
                    used[tid] = (self._title(pid) or name, cpu_ns, wait_ns)
                except (OSError, ValueError):
                    continue  # A thread that ended meanwhile, as above.
        self._titles = {pid: title for pid, title in self._titles.items() if pid in stats}
        self._busiest.see(used)
        if self._delay_seen:
            self._doubt_delays({tid: counters[-1] for tid, counters in seen.items()})
        run_queue_ns, voluntary, involuntary, io_delay_ticks = self._tasks.add(seen)
        waited = {"io_delay_s_total": io_delay_ticks * TICK_S} if self._delay_seen else {}
        return waited | {
            "run_queue_s_total": run_queue_ns * 1e-9,
            "voluntary_switches_total": voluntary,
            "involuntary_switches_total": involuntary,
        }

    def _title(self, pid: int) -> str | None:
        """Return what a process of several says it does, read once: a client's changes with every statement."""
        if self._with_children and pid not in self._titles:
            title = name_of_title(read(f"/proc/{pid}/cmdline"))
            self._titles |= {pid: title} if title else {}
        return self._titles.get(pid)

    def _task(self, folder: str) -> tuple[tuple[int, ...], tuple[str, int, int]]:
        """Return a thread's ns on the run queue, switches (voluntary, not), and ticks of delay by disks; and its name,
        its ns on a processor and on the run queue."""
        status = self._files.read(folder + "/status")
        switches = status[status.index(b"\nvoluntary_ctxt_switches:") :].split(None, 4)
        io_delay = int(fields_of_stat(self._files.read(folder + "/stat"))[_IO_DELAY]) if self._delay_seen else 0
        cpu_ns, run_queue_ns = map(int, self._files.read(folder + "/schedstat").split()[:2])
        counters = run_queue_ns, int(switches[1]), int(switches[3]), io_delay
        return counters, (name_of(status), cpu_ns, run_queue_ns)

    def close(self) -> None:
        """Close the files that are kept open."""
        self._files.close()

    def _doubt_delays(self, delays: dict[str, int]) -> None:
        """See that no thread was delayed for longer than the time since it was last looked at, else trust none.

        Linux 6.18 repeatedly added up to its whole uptime to the delay of a thread that had waited for a lock, as if
        its wait had begun long before.
        """
        now = time.monotonic()
        if self._last_at is not None:
            most = (now - self._last_at) / TICK_S + 1
            if any(ticks - self._last_delays.get(tid, 0) > most for tid, ticks in delays.items()):
                self._delay_seen = False
                reason = "this kernel's counter of disk delays is wrong"
                self._not_seen[f"{self._band}.io_delay_s_total"] = reason
        self._last_at, self._last_delays = now, delays


def _tids(pid: int, threads: int) -> list[str]:
    """Return a process's threads; of one with a single thread, which servers of many processes have, without asking."""
    if threads == 1:
        return [str(pid)]
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []  # It ended meanwhile, as above.


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Accumulated(Generic[_Key]):
    """Counters of many things of which some end: a thread that is gone keeps counting as it was last seen."""

    def __init__(self, width: int) -> None:
        """Take how many counters each of them has."""
        self._last: Mapping[_Key, tuple[int, ...]] = {}
        self._ended = (0,) * width

    def add(self, seen: Mapping[_Key, tuple[int, ...]]) -> tuple[int, ...]:
        """Return the sums over all that ever were, now that these are `seen`; a smaller value is another thing's."""
        for key, last in self._last.items():
            now = seen.get(key)
            if now is None or any(map(int.__lt__, now, last)):
                self._ended = tuple(map(sum, zip(self._ended, last, strict=True)))
        self._last = seen
        return tuple(map(sum, zip(self._ended, *seen.values(), strict=True)))
