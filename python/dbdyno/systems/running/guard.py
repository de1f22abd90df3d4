"""The guard: a process that stops servers and removes their directories when dbdyno is gone, however it went.

dbdyno starts one for a run and tells it, a line each, what exists. When its stdin closes, which the kernel sees to even
after `kill -9`, it ends what is still registered. It runs by itself (`python -I guard.py`), so it uses the standard
library alone.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

TERMINATE_TIMEOUT_S = 5.0
"""Time a process is given between SIGTERM and SIGKILL."""


class Guard:
    """dbdyno's end of it: tells the guard process what to end, as a context manager for the time of a run."""

    def __enter__(self) -> "Guard":
        """Start the guard in a session of its own, so that no Ctrl-C of the terminal reaches it."""
        self._process = subprocess.Popen(
            [sys.executable, "-I", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        """Let the guard end what is still there, and wait for it."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Make a directory that is there inside and gone afterwards, also after a kill."""
        with tempfile.TemporaryDirectory(prefix="dbdyno-") as name:
            self.tell("dir", Path(name))
            yield Path(name)
        self.tell("removed", Path(name))

    def tell(self, verb: str, what: int | Path) -> None:
        """Tell the guard one thing: `pid`, `dir`, `mount` or `cgroup` exists; `done`, `removed`: it does not.

        `switched-on`: a kernel setting is about to be set to 1, and is to be 0 again when dbdyno is gone.
        """
        # A guard that was killed must not end a run that goes well: there is only less protection then.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{verb} {what}\n")
            self._process.stdin.flush()


def start_time(pid: int) -> str | None:
    """Return when the process began (clock ticks since boot), which tells it from a later one with its number."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state == "Z" else fields[18]


def processes_in(directories: Iterable[Path]) -> dict[int, str]:
    """Return the processes whose working directory is in one of `directories`, pid to start time.

    Those that are not registered are a server's own children, or were started the moment dbdyno died.
    """
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (began := start_time(int(entry.name))):
            with contextlib.suppress(OSError):
                cwd = Path(os.readlink(entry / "cwd"))
                if any(cwd.is_relative_to(directory) for directory in directories):
                    found[int(entry.name)] = began
    return found


def _end(processes: dict[int, str]) -> None:
    """Terminate the processes, then kill those still there; a pid that began at another time is not ours."""
    for number, patience_s in ((signal.SIGTERM, TERMINATE_TIMEOUT_S), (signal.SIGKILL, TERMINATE_TIMEOUT_S)):
        for pid, began in processes.items():
            if start_time(pid) == began:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
        deadline = time.monotonic() + patience_s
        while any(start_time(pid) == began for pid, began in processes.items()) and time.monotonic() < deadline:
            time.sleep(0.02)


def watch(lines: TextIO) -> None:
    """Keep account of what `lines` say, and when they end, end all that is left."""
    processes: dict[int, str] = {}
    paths: dict[str, set[Path]] = {"dir": set(), "cgroup": set(), "switched-on": set(), "mount": set()}
    for line in lines:
        verb, _, what = line.rstrip("\n").partition(" ")
        if verb == "pid" and (began := start_time(int(what))):
            processes[int(what)] = began
        elif verb == "done":
            processes.pop(int(what), None)
        elif verb in paths:
            paths[verb].add(Path(what))
        elif verb == "removed":
            for kind in paths.values():
                kind.discard(Path(what))
    _end(processes | processes_in(paths["dir"]))
    _remove(paths)


def _remove(paths: dict[str, set[Path]]) -> None:
    """Remove what is left, each kind its own way."""
    for mounted in paths["mount"]:
        subprocess.run(["umount", "--lazy", str(mounted)], check=False, capture_output=True)
    for directory in paths["dir"]:
        shutil.rmtree(directory, ignore_errors=True)
    for cgroup in paths["cgroup"]:
        with contextlib.suppress(OSError):
            cgroup.rmdir()
    for setting in paths["switched-on"]:
        with contextlib.suppress(OSError):
            setting.write_text("0")


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    watch(sys.stdin)
