"""Observe a trial, write the observations down, and say what could not be seen."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dbdyno.conduct.context import Context
from dbdyno.conduct.server_processes import server_processes
from dbdyno.errors import UserError
from dbdyno.hosts.elsewhere import hosted
from dbdyno.hosts.observer import HostsObserver
from dbdyno.observe.observer import Observed, Observer
from dbdyno.observe.servers import server_of
from dbdyno.results.facts import TrialFacts
from dbdyno.results.json_types import UsageStated
from dbdyno.results.model import Usage
from dbdyno.results.observations import close_hosts, close_observations
from dbdyno.results.records import read_records
from dbdyno.results.usage import usage_of
from dbdyno.systems.base import System

AnyObserver = Observer | HostsObserver


def observer_of(context: Context, system: System, folder: Path, load_threads: bool = True) -> AnyObserver | None:
    """Return what will observe a trial of `system`; None if the experiment wants none.

    load_threads: the threads of a load client do the work of an embedded store, so what these wait for is the store's.
    """
    if not context.experiment.observe:
        return None
    if servers_elsewhere := hosted(system):
        there = HostsObserver(servers_elsewhere, folder)
        _say(context, there)
        return there
    addresses, pids = system.addresses(), server_processes(system)
    forking, directories = system.forking(), system.data_directories()
    if not system.server_pids():
        forking = frozenset(pids) if system.forks else forking
        directories = directories or tuple(_directories(pids.values()))
    servers = pids, forking, directories, system.probes()
    elsewhere = context.crew is not None
    cpus = context.experiment.cpus
    sides = {"client": None if elsewhere else cpus.client, "server": cpus.server if system.server_pids() else None}
    observed = Observed(
        *servers,
        embedded=system.embedded and load_threads,
        addresses=addresses,
        clients_elsewhere=elsewhere,
        pinned={side: processors for side, processors in sides.items() if processors},
        log_threads=system.log_threads,
    )
    observer = Observer(observed, folder)
    _say(context, observer)
    return observer


def _directories(pids: Iterable[int]) -> Iterator[Path]:
    """Yield the directories in which servers work, where most keep their data; a daemon may work in none."""
    for server in filter(None, map(server_of, pids)):
        if (directory := server.directory) and directory != Path("/"):
            yield directory


class StageObserver:
    """Observes a trial whose servers are started anew in it: an observer for each stage, all samples in one file.

    not_seen, cpu_s: as those of an observer, of all stages.
    """

    def __init__(self, context: Context, system: System, folder: Path) -> None:
        self._context, self._system, self._folder = context, system, folder
        self.not_seen: dict[str, str] = {}
        self.cpu_s = 0.0

    @contextmanager
    def watching(self, client_pid: int) -> Iterator[None]:
        """Observe a stage, with the servers that run now and the process that asks them."""
        observer = observer_of(self._context, self._system, self._folder, load_threads=False)
        if observer is None:
            yield
            return
        try:
            with observer.watching(client_pid, False):
                yield
        finally:
            self.not_seen |= observer.not_seen
            self.cpu_s += observer.cpu_s

    def stop(self) -> None:
        """Nothing is left to stop: each stage's observer ended with it."""


def end_observing(
    context: Context, observer: AnyObserver | StageObserver | None, folder: Path, facts: TrialFacts
) -> TrialFacts:
    """Close what was observed, and return the trial's facts with it; raises OSError if it cannot be written."""
    if observer is None:
        return facts
    observer.stop()
    _say(context, observer)
    return replace(
        facts,
        observer_cpu_s=round(observer.cpu_s, 6),
        not_seen=[{"band": band, "reason": reason} for band, reason in sorted(observer.not_seen.items())],
        # Read with every run; to read it from all the tables would take longer than `dbdyno show` may last.
        usage=_usage(folder, facts, observer.hosts if isinstance(observer, HostsObserver) else ()),
    )


def _usage(folder: Path, facts: TrialFacts, hosts: Sequence[str]) -> list[UsageStated]:
    observations = close_hosts(folder, hosts) if hosts else close_observations(folder)
    try:
        recorded = read_records(folder / "records.jsonl", facts.automatic_warmup, facts.profiled_seconds)
    except UserError:
        # A load client that writes what cannot be understood has failed already, which is what is said of the trial.
        return _stated(usage_of(observations, None))
    left_out = recorded.left_out_unix_s
    counted = replace(observations, left_out=left_out) if observations and left_out else observations
    return _stated(usage_of(counted, recorded.window_unix_s))


def _stated(usage: Iterable[Usage]) -> list[UsageStated]:
    return [
        {
            "process": used.process,
            "cores": used.cores,
            "resident_bytes": used.resident_bytes,
            "private_bytes": used.private_bytes,
        }
        for used in usage
    ]


def _say(context: Context, observer: AnyObserver | StageObserver) -> None:
    """Tell of each thing that cannot be seen once in a run."""
    for band_and_reason in sorted(observer.not_seen.items()):
        if band_and_reason not in context.said:
            context.said.add(band_and_reason)
            context.listener.not_seen(*band_and_reason)
