"""Stacks of the server and of the client under a trial's load (`--profile`).

Recording slows what it records, so nothing is recorded while a trial is measured. Afterwards the same load runs once
more, for a few seconds. Its own records lie in the trial's folder `profile`, and no figure is computed from them.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil

from dbdyno.conduct.context import Context
from dbdyno.conduct.load_client import execute, why_it_failed
from dbdyno.conduct.plan import Plan
from dbdyno.contract import Record
from dbdyno.errors import RunFailed
from dbdyno.observe.stacks.counters import Counting
from dbdyno.observe.stacks.fold import Folded, unnamed_shares
from dbdyno.observe.stacks.perf import Recording, switches_per_sample
from dbdyno.observe.stacks.permission import OFF_CPU, ON_CPU, in_words, not_seen
from dbdyno.observe.stacks.symbols import mapped_files, package_with_names
from dbdyno.results.profile import NotRecordedStated, ProfileStated, StacksStated
from dbdyno.results.write import write_profile, write_whole
from dbdyno.systems.running.guard import Guard

WINDOW_S = 5
WORTH_A_NAME = 0.01
"""Share of the stacks' functions: a file with more unnamed ones gets a hint where their names are."""
_WARMUP_S = 1
_MARGIN_S = 2
"""perf takes about a second to attach to a server of many threads; the load must outlast it and the window."""


def announce(context: Context) -> None:
    """Say, once in a run, which of the requested stacks this host does not show."""
    if context.experiment.profile:
        for kind, reason in in_words(not_seen()).items():
            context.listener.not_seen(kind, reason)


def profile(context: Context, plan: Plan, secrets: list[str], server_pids: Mapping[str, int], folder: Path) -> None:
    """Run the load of a trial's `plan` once more and record stacks meanwhile, into `folder`, which is made.

    Whatever does not work is said in `profile.json`; a trial that was measured is not spoiled by it.
    Raises OSError if the disk is full.
    """
    folder.mkdir()
    missing = not_seen()
    stated: ProfileStated = {
        "seconds": WINDOW_S,
        "begun_unix_s": None,
        "transactions_per_s": None,
        "stacks": {},
        "counters": {},
        "not_seen": [],
    }
    if len(missing) < len((ON_CPU, OFF_CPU)):
        longer = replace(plan, warmup_s=_WARMUP_S, duration_s=WINDOW_S + _MARGIN_S, query_plans=False)
        with context.guard.scratch() as scratch, Window(context.guard, server_pids, scratch) as window:
            try:
                summary = execute(longer, secrets, folder, context.supervision(), _after_warmup(window))
                if reason := why_it_failed(summary, folder):
                    missing |= {"load": reason}
                elif summary.seconds:
                    stated["transactions_per_s"] = summary.transactions / summary.seconds
                stated["begun_unix_s"] = window.begun_unix_s
                stated["stacks"], failed = window.write(folder, set(missing))
                stated["counters"] = window.counters(stated["transactions_per_s"])
                missing |= failed
            except RunFailed as failure:
                missing |= {"load": str(failure)}
    stated["not_seen"] = not_recorded(missing)
    write_profile(folder, stated)


def not_recorded(missing: Mapping[str, str]) -> list[NotRecordedStated]:
    """Return the kinds of stacks that were not recorded, with the reasons."""
    return [{"what": what, "reason": reason} for what, reason in missing.items()]


def _after_warmup(window: "Window") -> Callable[[Record], None]:
    """Return what begins a window with the first second that is not the warm-up's."""

    def record_came(record: Record) -> None:
        if record["record"] == "hello":
            window.add_client(record["pid"])
        if record["record"] == "interval" and record["second"] + 1 >= _WARMUP_S and window.begun_unix_s is None:
            window.begin()

    return record_came


class Window:
    """The time in which stacks of the servers and of the load client are recorded."""

    def __init__(self, guard: Guard, server_pids: Mapping[str, int], scratch: Path) -> None:
        """Take the servers' processes, by name; what perf records lies in `scratch` until it is folded."""
        self._guard, self._scratch = guard, scratch
        is_alone = len(server_pids) == 1
        self._pids = {"server" if is_alone else f"server-{name}": pid for name, pid in server_pids.items()}
        self._recordings: dict[str, Recording] = {}
        self._countings: dict[str, Counting] = {}
        self._files: dict[str, dict[str, str]] = {}
        self.begun_unix_s: float | None = None

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        for begun in self._begun():
            begun.stop()
            self._guard.tell("done", begun.process.pid)

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
            self._recordings[name] = Recording(pids, self._scratch / f"{name}.data", WINDOW_S, every[name])
            self._countings[name] = Counting(pids, self._scratch / f"{name}.counts", WINDOW_S)
        for begun in self._begun():
            self._guard.tell("pid", begun.process.pid)

    def _begun(self) -> list[Recording | Counting]:
        return [*self._recordings.values(), *self._countings.values()]

    @property
    def is_over(self) -> bool:
        """Return whether everything that was begun has ended."""
        return all(begun.process.poll() is not None for begun in self._begun())

    def counters(self, transactions_per_s: float | None) -> dict[str, dict[str, float | None]]:
        """Return the events of each process for a transaction; `None` if they or the transactions are not known."""
        return {
            name: {
                event: count_per_s / transactions_per_s if count_per_s is not None and transactions_per_s else None
                for event, count_per_s in counting.per_s().items()
            }
            for name, counting in self._countings.items()
        }

    def write(self, folder: Path, without: set[str]) -> tuple[dict[str, StacksStated], dict[str, str]]:
        """Write the folded stacks but for the kinds in `without`; returns what is said of each, and what failed."""
        written, failed = {}, {}
        for name, recording in self._recordings.items():
            try:
                folded = recording.folded()
            except RunFailed as failure:
                failed[name] = str(failure)
                continue
            for kind in {ON_CPU, OFF_CPU} - without:
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
