"""Waits of the threads of a server, or of a load client with a store in it, by the system call they are in
(proc_pid_syscall(5)).

For stores that do not show their waits, and for waits for the disk, which most do not show. A thread that was observed
waiting for a socket serves clients. The others (flushing, merging, idle helpers) hold no client's operation. Reads from
the disk are an exception, because they are hardly ever done ahead of need.

The kernel's workers for io_uring are listed with a process's threads. They sleep outside of any system call, like a
thread that fetches a page, and are no threads of the server's: they are left out.
"""

import os
import platform
import random
import time
from collections import Counter
from collections.abc import Collection

from dbdyno.observe.procfs import Kept, NotSeen, read
from dbdyno.observe.waits import CLIENT, COMMIT, CPU, DISK, LOCK, OTHER, Counts, mean_of

LOOKS, LEARNT = 8, 32
"""Threads looked at, and those looked at once a second to see whether they serve clients. If there are more, they are
drawn at random. One costs about 8 µs."""
FIRST_LOOKS, FIRST_PAUSE_S = 10, 0.005
"""Looks before the load, and the pause between them."""
_READ = "read"
_KERNELS = b"iou-"
"""How the names of the kernel's workers for io_uring begin (io_uring/io-wq.c, io_uring/sqpoll.c of Linux)."""
# asm/unistd.h. Sockets: poll, select, epoll_wait, recv…, send…, accept…; files: read…, write…, fallocate; flushes;
# locks: futex…, fcntl, flock, and nanosleep, in which who cannot have one (SQLite, Tkrzw) waits before it tries again.
_CALLS = {
    "x86_64": {
        CLIENT: (7, 23, 43, 44, 45, 46, 47, 232, 270, 271, 281, 288, 441),
        _READ: (17, 19, 295, 327),
        DISK: (0, 1, 18, 20, 77, 285, 296, 328),
        COMMIT: (26, 74, 75, 277),
        LOCK: (35, 72, 73, 202, 230, 449),
    },
    "aarch64": {
        CLIENT: (22, 72, 73, 202, 206, 207, 211, 212, 242, 441),
        _READ: (65, 67, 69, 286),
        DISK: (46, 47, 63, 64, 66, 68, 70, 287),
        COMMIT: (82, 83, 84, 227),
        LOCK: (25, 32, 98, 101, 115, 449),
    },
}
_STATES = {str(call).encode(): state for state, calls in _CALLS.get(platform.machine(), {}).items() for call in calls}
# Not in a system call and yet not running: a page of a mapped file is fetched.
_STATES |= {b"running": CPU, b"-1": _READ}


class ThreadStates:
    """Looks at a server's threads some times a second."""

    def __init__(
        self,
        name: str,
        pid: int,
        not_seen: NotSeen,
        workers: bytes | None = None,
        loggers: Collection[bytes] = (),
    ) -> None:
        """Take the server; reports it if its threads cannot be looked at.

        workers: how the names of the threads begin that do clients' work, if that is known. If these wait
        for each other, that is a lock. Other threads wait so for work, too, which counts for no client.
        loggers: names of the threads that flush the log for all writers, as far as the kernel keeps a name.
        """
        self._folder = f"/proc/{pid}/task"
        self._workers = workers
        self._files = Kept()
        self._tids: list[str] = []
        self._kernels: dict[str, bool] = {}
        self._serving: set[str] = set()
        self._samples: list[Counts] = []
        self._logger_names = loggers
        self._loggers: list[str] = []
        self._flushing: list[bool] = []
        self._known = platform.machine() in _CALLS
        self._random = random.Random(pid)
        if not self._known:
            not_seen[f"waits.{name}.disk"] = f"system calls of {platform.machine()} are not known"
            return
        try:
            read(f"{self._folder}/{pid}/syscall")
        except (PermissionError, FileNotFoundError):
            self._known = False
            not_seen[f"waits.{name}.disk"] = "this user may not see what that server's threads wait for"
        except OSError:
            self._known = False  # It has ended.
        self._learn_first()

    def _learn_first(self) -> None:
        """Learn until a thread serves clients, but not for long: under load a single one may never be idle again."""
        for _ in range(FIRST_LOOKS):
            self.learn()
            if self._serving or self._workers is not None or not self._tids:
                break
            time.sleep(FIRST_PAUSE_S)

    def learn(self) -> None:
        """See which threads there are, and look at those not known to serve clients: most that do are idle at times.

        Once a second, as to list them takes as long as to look at some.
        """
        self._tids = self._list()
        unknown = [tid for tid in self._tids if tid not in self._serving]
        if self._logger_names:
            # Not kept: a thread is named after its start.
            self._loggers = [tid for tid in self._tids if self._name_of(tid) in self._logger_names]
        if self._workers is not None:
            self._serving |= {tid for tid in unknown if self._name_of(tid).startswith(self._workers)}
            return
        for tid in self._drawn(unknown, LEARNT):
            self._state_of(tid)

    def look(self) -> None:
        """Count the states of the threads, or of some of them, scaled up."""
        if not (self._serving if self._workers else self._tids):
            self.learn()
        tids = sorted(self._serving) if self._workers else self._tids
        drawn = self._drawn(tids, LOOKS)
        counted = Counter(filter(None, map(self._state_of, drawn)))
        if drawn:
            self._samples.append({state: count * len(tids) / len(drawn) for state, count in counted.items()})
        if self._loggers:
            self._flushing.append(any(self._call_of(tid) == COMMIT for tid in self._loggers))

    def take(self) -> dict[str, float]:
        """Return the mean count of each state since this was last asked for, at the least of one look now."""
        if not self._samples:
            self.look()
        samples, self._samples = self._samples, []
        return mean_of(samples)

    def take_flushing(self) -> float | None:
        """Return the share of the looks, since this was last asked for, in which its log was flushed; `None`: none."""
        looks, self._flushing = self._flushing, []
        return sum(looks) / len(looks) if looks else None

    def close(self) -> None:
        """Close the files that are kept open."""
        self._files.close()

    def _drawn(self, tids: list[str], most: int) -> list[str]:
        return tids if len(tids) <= most else self._random.sample(tids, most)

    def _list(self) -> list[str]:
        """Return its own threads; each name is read once."""
        try:
            tids = os.listdir(self._folder) if self._known else []
        except OSError:
            return []
        self._kernels = {
            tid: self._kernels[tid] if tid in self._kernels else self._name_of(tid).startswith(_KERNELS) for tid in tids
        }
        return [tid for tid in tids if not self._kernels[tid]]

    def _name_of(self, tid: str) -> bytes:
        try:
            return read(f"{self._folder}/{tid}/comm").rstrip(b"\n")
        except OSError:
            return b""

    def _call_of(self, tid: str) -> str | None:
        """Return the state that a thread's system call stands for; `None` if it has ended."""
        try:
            return _STATES.get(self._files.read(f"{self._folder}/{tid}/syscall").split(None, 1)[0], OTHER)
        except (OSError, IndexError):
            return None

    def _state_of(self, tid: str) -> str | None:
        state = self._call_of(tid)
        if state is None:
            return None
        if state == CLIENT:
            self._serving.add(tid)
        if state == LOCK and self._workers is None:
            state = OTHER
        if state == _READ:
            return DISK
        return state if tid in self._serving else None
