"""Guards: processes that end servers and remove what a run made when dbdyno is gone, however it went.

dbdyno writes what exists into a journal (`dbdyno.leftovers`) whose lock the kernel frees when dbdyno ends, even after
`kill -9`. Two guards wait for that lock. A guard that is killed or stopped is replaced at once, and one that is killed
while it removes things frees the lock for the other. If all of them are killed together, servers and load clients end
by the kernel's hand (PR_SET_PDEATHSIG), and the next run removes the rest.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread

from dbdyno.leftovers.journal import Journal, path_of_new
from dbdyno.leftovers.processes import start_time
from dbdyno.leftovers.removal import remove_left, sweep, users_of
from dbdyno.leftovers.switch import switch_on

GUARDS = 2
_ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask a process to end."""


class Guard:
    """dbdyno's end of it: keeps the journal and the guards, as a context manager for the time of a run."""

    def __enter__(self) -> "Guard":
        """Remove what an earlier run left, start the guards, and begin the journal.

        In this order: if dbdyno and one guard are killed, another guard is there whenever there is a journal.
        """
        sweep()
        path = path_of_new()
        self._locks: list[int] = []
        self._begun, is_beginning = os.pipe()
        try:
            self.processes = [GuardProcess(path, self._begun) for _ in range(GUARDS)]
            self._journal = Journal.create(path)
        finally:
            # If there is no journal, the guards end.
            os.close(is_beginning)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what is still there. The guards watch that until it is done."""
        for descriptor in self._locks:
            os.close(descriptor)
        remove_left(self._journal.entries(), ends_now=True)
        self._journal.remove()
        for process in self.processes:
            process.end()
        os.close(self._begun)

    def new_directory(self, parent: str | Path | None = None) -> Path:
        """Make a directory that will be gone when dbdyno is, below `parent` or where temporary files are.

        Raises OSError if it cannot be made.
        """
        return self._make("dir", Path(parent or tempfile.gettempdir()))

    def new_cgroup(self, parent: Path) -> Path:
        """Make a control group that will be gone when dbdyno is; raises OSError if it cannot be made."""
        return self._make("cgroup", parent)

    def _make(self, verb: str, parent: Path) -> Path:
        """Make a directory of a new name. Its name is in the journal before it exists."""
        while True:
            path = parent / f"dbdyno-{os.urandom(4).hex()}"
            if not path.exists():
                break
        self.tell(verb, path)
        try:
            path.mkdir(mode=0o700)
        except OSError:
            self.tell("removed", path)
            raise
        return path

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Make a directory that is there inside and gone afterwards, also after a kill."""
        path = self.new_directory()
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
            self.tell("removed", path)

    def switch_on(self, setting: Path) -> None:
        """Set a kernel setting to 1 until no run needs it; raises OSError if that is not permitted."""
        self.tell("switch", setting)
        if (lock := switch_on(setting, users_of(setting))) is not None:
            self._locks.append(lock)

    def tell(self, verb: str, what: int | Path) -> None:
        """Write down one thing: `pid`, `dir`, `mount` or `cgroup` exists; `done`, `removed`: it does not.

        Report a resource before it exists if you can: a kill may come in between.
        """
        if verb != "pid" or isinstance(what, Path):
            self._journal.write(verb, what)
        elif began := start_time(what):
            self._journal.write(verb, what, began)


class GuardProcess:
    """One guard, which is replaced whenever it is killed or stopped."""

    def __init__(self, journal: Path, begun: int) -> None:
        """Start it in its own session, so that no Ctrl-C of the terminal reaches it.

        begun: a pipe that ends when the journal is there.
        """
        self._journal, self._begun, self._lock, self._ending = journal, begun, Lock(), False
        self._process = self._start()
        self._thread = Thread(target=self._watch, name="guard", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """The number of the process that guards now."""
        return self._process.pid

    def _start(self) -> subprocess.Popen[bytes]:
        # It inherits the blocked signals: those that ask it to end must not reach it before it ignores them.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ASKING)
        try:
            return self._spawn()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)

    def _spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            # -P: what lies in the folder dbdyno is called from must not be taken for dbdyno.
            [sys.executable, "-P", "-m", "dbdyno.leftovers", str(self._journal)],
            stdin=self._begun,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )

    def _watch(self) -> None:
        while True:
            # Its status is left for `wait`: a number that is free could be another process by now.
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
            with self._lock:
                self._process.kill()
                # One that ended by itself had nothing to guard, or cannot run here.
                if self._process.wait() >= 0 or self._ending:
                    return
                self._process = self._start()

    def end(self) -> None:
        """End it, and wait for that."""
        with self._lock:
            self._ending = True
            self._process.kill()
        self._thread.join()
