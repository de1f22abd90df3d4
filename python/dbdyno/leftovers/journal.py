"""The journal: what a run has on this host, a line each, written before it is made.

A run holds a lock (flock(2)) on its journal as long as it lives. The kernel frees the lock whatever ends the run, so
whoever gets the lock knows that the run is over, and that nobody else removes what it left.
"""

import fcntl
import json
import os
import socket
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

STATE_VARIABLE = "DBDYNO_STATE_DIR"
_SUFFIX = ".journal"
_RANDOM_BYTES = 8
_RANDOM_DIGITS = "[0-9a-f]" * (2 * _RANDOM_BYTES)
"""The pattern of what follows the host in a journal's name. A file of another name in the folder is somebody else's."""


@dataclass
class Entries:
    """All that a journal says is there. processes: pid to start time. switches: settings that were switched on."""

    processes: dict[int, str] = field(default_factory=dict)
    directories: set[Path] = field(default_factory=set)
    mounts: set[Path] = field(default_factory=set)
    cgroups: set[Path] = field(default_factory=set)
    switches: set[Path] = field(default_factory=set)

    def take(self, verb: str, *what: str) -> None:
        """Take one line: `pid`, `dir`, `mount`, `cgroup` or `switch` exists; `done` or `removed`: it does not.

        `boot`: when the host was started. Only directories outlive that.
        """
        paths = {"dir": self.directories, "mount": self.mounts, "cgroup": self.cgroups, "switch": self.switches}
        if verb == "pid":
            self.processes[int(what[0])] = what[1]
        elif verb == "done":
            self.processes.pop(int(what[0]), None)
        elif verb in paths:
            paths[verb].add(Path(what[0]))
        elif verb == "removed":
            for kind in paths.values():
                kind.discard(Path(what[0]))


def state_folder() -> Path:
    """Return where journals lie: DBDYNO_STATE_DIR, else `dbdyno` in the user's directory for states (XDG_STATE_HOME).

    All runs of root share one folder, whatever their environment is.
    """
    if given := os.environ.get(STATE_VARIABLE):
        return Path(given).expanduser()
    if os.geteuid() == 0:
        return Path("/var/lib/dbdyno")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "dbdyno"


def path_of_new() -> Path:
    """Return a path for a new journal, in a place for temporary files if there can be none in the folder of states."""
    folder, prefix = state_folder(), socket.gethostname()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Try it out with a file that has no name, so that a kill leaves none.
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        folder, prefix = Path(tempfile.gettempdir()), "dbdyno"
    return folder / f"{prefix}-{os.urandom(_RANDOM_BYTES).hex()}{_SUFFIX}"


class Journal:
    """A locked journal; only its holder writes it, or removes what it names."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor

    @classmethod
    def create(cls, path: Path) -> "Journal":
        """Begin one; raises OSError if it cannot be made."""
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # A sweep may have been faster, and have removed an empty journal.
            if os.fstat(descriptor).st_nlink:
                journal = cls(path, descriptor)
                journal.write("boot", _boot())
                return journal
            os.close(descriptor)

    @classmethod
    def take(cls, path: Path, wait: bool) -> "Journal | None":
        """Return the journal of a run that is over, or None if there is nothing to remove any more.

        wait: until the run is over; else None is also of a run that goes on. In a folder that others may write to, a
        journal of theirs could name anything.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            status = os.fstat(descriptor)
            if status.st_nlink and status.st_uid == os.geteuid():
                return cls(path, descriptor)
        except BlockingIOError:
            # The run goes on, or a guard removes what it left.
            pass
        os.close(descriptor)
        return None

    def write(self, *line: object) -> None:
        """Write one line."""
        # On a full disk there is less protection; what is being removed must still be removed.
        with suppress(OSError):
            os.write(self._descriptor, json.dumps([str(word) for word in line]).encode() + b"\n")

    def entries(self) -> Entries:
        """Return what is there; a line that was cut short is none."""
        entries, rebooted = Entries(), False
        for text in self.path.read_text().splitlines():
            with suppress(ValueError, IndexError, TypeError):
                verb, *what = json.loads(text)
                rebooted = rebooted or (verb == "boot" and what[0] != _boot())
                entries.take(verb, *what)
        return Entries(directories=entries.directories) if rebooted else entries

    def remove(self) -> None:
        """Remove it: nothing of what it names is left."""
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)


def journals() -> list[Path]:
    """Return the journals of this host's runs, of those that go on too."""
    return sorted(state_folder().glob(f"{socket.gethostname()}-{_RANDOM_DIGITS}{_SUFFIX}"))


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
