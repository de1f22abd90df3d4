"""The time in which the stacks of some processes are recorded, all at once, and the stacks as files."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import psutil

from dbdyno.errors import RunFailed
from dbdyno.observe.stacks.counters import Counting
from dbdyno.observe.stacks.fold import Folded, unnamed_shares
from dbdyno.observe.stacks.perf import Recording, switches_per_sample
from dbdyno.observe.stacks.permission import OFF_CPU, ON_CPU, not_seen
from dbdyno.observe.stacks.symbols import mapped_files, package_with_names
from dbdyno.results.profile import StacksStated
from dbdyno.results.write import write_whole

KINDS = (ON_CPU, OFF_CPU)
WORTH_A_NAME = 0.01
"""Share of the stacks' functions: a file with more unnamed ones gets a hint where their names are."""

EventsPerS = Mapping[str, Mapping[str, float | None]]
"""The events of processors in a second, by process and event; None if not counted."""


_Server = TypeVar("_Server")


def stack_names(servers: Mapping[str, _Server]) -> dict[str, _Server]:
    """Return servers by the names of their stacks: one that is alone is just `server`."""
    return {"server" if len(servers) == 1 else f"server-{name}": server for name, server in servers.items()}


class Window:
    """Processes of this host whose stacks are recorded for some seconds, as a context manager.

    missing: the kinds of stacks that this host does not show, and why. begun_unix_s: None before it begins.
    """

    def __init__(
        self, tell: Callable[[str, int], None], pids: Mapping[str, int], scratch: Path, seconds: float
    ) -> None:
        """Take the processes by the names of their stacks.

        tell: a guard's, of each process that records. scratch: where perf's data lie until they are folded.
        """
        self._tell, self._pids, self._scratch, self._seconds = tell, dict(pids), scratch, seconds
        self._recordings: dict[str, Recording] = {}
        self._countings: dict[str, Counting] = {}
        self._files: dict[str, dict[str, str]] = {}
        self.missing = not_seen()
        self.begun_unix_s: float | None = None

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        for begun in self._begun():
            begun.stop()
            self._tell("done", begun.process.pid)

    @property
    def is_blind(self) -> bool:
        """True if no kind of stacks can be recorded."""
        return len(self.missing) == len(KINDS)

    def add_client(self, pid: int) -> None:
        """Record the load client, too."""
        self._pids["client"] = pid

    def begin(self) -> None:
        """Begin to record."""
        processes = {name: _with_children(pid) for name, pid in self._pids.items()}
        every = switches_per_sample(processes)
        self.begun_unix_s = time.time()
        self._files = {name: mapped_files(pids) for name, pids in processes.items()}
        for name, pids in processes.items():
            self._recordings[name] = Recording(pids, self._scratch / f"{name}.data", self._seconds, every[name])
            self._countings[name] = Counting(pids, self._scratch / f"{name}.counts", self._seconds)
        for begun in self._begun():
            self._tell("pid", begun.process.pid)

    def _begun(self) -> list[Recording | Counting]:
        return [*self._recordings.values(), *self._countings.values()]

    @property
    def is_over(self) -> bool:
        """Return whether everything that was begun has ended."""
        return all(begun.process.poll() is not None for begun in self._begun())

    def events_per_s(self) -> EventsPerS:
        """Return the processors' events in a second of each process; waits for the end of the recording."""
        return {name: counting.per_s() for name, counting in self._countings.items()}

    def write(self, folder: Path) -> tuple[dict[str, StacksStated], dict[str, str]]:
        """Write the folded stacks that this host shows; returns what is said of each, and what failed."""
        written, failed = {}, {}
        for name, recording in self._recordings.items():
            try:
                folded = recording.folded()
            except RunFailed as failure:
                failed[name] = str(failure)
                continue
            for kind in set(KINDS) - self.missing.keys():
                written[f"{name}-{kind}"] = _write(folder / f"{name}-{kind}.folded", folded, kind, self._files[name])
        return dict(sorted(written.items())), failed


def _with_children(pid: int) -> list[int]:
    """Return a process and its children: the load client for Python has its clients in some."""
    # One that is gone is found to be so by perf, which says it.
    with suppress(psutil.Error):
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    return [pid]


def _write(path: Path, folded: Folded, kind: str, files: Mapping[str, str]) -> StacksStated:
    stacks = folded.on_cpu if kind == ON_CPU else folded.off_cpu
    write_whole(path, "".join(f"{stack} {us}\n" for stack, us in sorted(stacks.items())))
    unnamed = unnamed_shares(stacks)
    return {
        "samples": folded.samples[kind],
        "thread_seconds": round(sum(stacks.values()) / 1e6, 3),
        "unnamed_share": round(sum(unnamed.values()), 3) if any(stacks.values()) else None,
        "unnamed": [
            {"file": file, "share": share, "package": package_with_names(files[file]) if file in files else None}
            for file, share in unnamed.items()
            if share >= WORTH_A_NAME
        ],
    }
