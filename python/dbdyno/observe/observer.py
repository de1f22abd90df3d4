"""Samples everything while a trial runs, on its own thread, once a second."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from dbdyno.observe.cgroup import CgroupSampler
from dbdyno.observe.disk import DiskSampler
from dbdyno.observe.host import HostSampler
from dbdyno.observe.network import NetworkSampler
from dbdyno.observe.pressure import PressureSampler
from dbdyno.observe.process import ProcessSampler
from dbdyno.observe.procfs import NotSeen
from dbdyno.observe.queues import SocketQueues
from dbdyno.observe.rates import Rates
from dbdyno.observe.store import Probe, StoreWatch
from dbdyno.observe.threads import ThreadStates
from dbdyno.observe.waits import Counts, combine
from dbdyno.results.observations import LINES
from dbdyno.results.samples import AT
from dbdyno.results.write import Lines

PERIOD_S = 1.0
LOOK_PERIOD_S, SELDOM_S = 0.1, 0.2
QUEUES_PERIOD_S, QUEUES_BUDGET = 0.3, 0.004
"""From one look at the connections to the next, and the share of one processor for them: 64 take about 1 ms."""
"""From one look at threads to the next; if the servers show what they wait for, threads only add waits for disks."""
BUDGET = 0.008
"""Share of one processor for all observation: above it, threads are looked at less often. No sample is left out."""
_LOAD_THREADS = b"load-"
"""How dbdyno-load names the threads that its clients are in."""
COMM_BYTES = 15
"""The kernel keeps that much of a thread's name."""
_CPU_COLUMNS = ("cpu_user", "cpu_system", "run_queue")


class Sampler(Protocol):
    """Anything that can be sampled once a second."""

    def sample(self) -> Mapping[str, float]:
        """Return columns and their values; a column that cannot be seen now is left out."""


class Rows(Protocol):
    """Anything that takes samples as they come."""

    def append_object(self, content: Mapping[str, float]) -> None:
        """Take one."""

    def close(self) -> None:
        """No more come."""


@dataclass(frozen=True)
class Observed:
    """The parts of a system to observe.

    pids: its servers, name to pid, as far as they are processes of this host that dbdyno started.
    forks: the names of those that are several processes, of which the pid is the first.
    directories: where its data lies. probes: connections to its servers, not yet opened.
    embedded: it is in the load client, a thread for each client. addresses: host and port of each server that clients
    reach over TCP. clients_elsewhere: the clients are on other hosts. pinned: the processors that each side, `client`
    or `server`, is pinned to. log_threads: the names of the servers' threads that flush the log for all writers.
    """

    pids: Mapping[str, int] = field(default_factory=dict)
    forks: frozenset[str] = frozenset()
    directories: Sequence[Path] = ()
    probes: Sequence[Probe] = ()
    embedded: bool = False
    addresses: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    clients_elsewhere: bool = False
    pinned: Mapping[str, Sequence[int]] = field(default_factory=dict)
    log_threads: Sequence[str] = ()


class Observer:
    """Observes one trial. not_seen: what it cannot see here, and why. cpu_s: what its threads used."""

    def __init__(self, observed: Observed, folder: Path) -> None:
        """Connect, and look what can be seen, before the trial begins; `observations.jsonl` goes to `folder`."""
        self.not_seen: NotSeen = {}
        self.cpu_s = 0.0
        self._folder = folder
        self._closing = ExitStack()
        self._samplers: list[Sampler] = [HostSampler(observed.pinned), PressureSampler(self.not_seen), NetworkSampler()]
        self._samplers.append(DiskSampler(observed.directories, self.not_seen))
        self._threads: dict[str, ThreadStates] = {}
        self._loggers = [name.encode()[:COMM_BYTES] for name in observed.log_threads]
        for name, pid in observed.pids.items():
            forks = name in observed.forks
            self._sample_process(name, pid, forks)
            if not forks:
                self._look_at_threads(name, pid)
        self._stores = [StoreWatch(probe, self.not_seen, observed.pids.get(probe.server)) for probe in observed.probes]
        elsewhere = observed.clients_elsewhere
        self._queues = [
            SocketQueues(name, *address, self.not_seen, elsewhere) for name, address in observed.addresses.items()
        ]
        for queues in self._queues:
            self._closing.callback(queues.close)
        self._embedded = observed.embedded
        self._rates = Rates("process.")
        self._stopping = threading.Event()

    @contextmanager
    def watching(self, client_pid: int | None, client_forks: bool) -> Iterator[None]:
        """Observe meanwhile, the load client too, unless it is on another host. client_forks: it has processes of its
        own."""
        if client_pid is not None:
            self._sample_process("client", client_pid, client_forks)
        if self._embedded and client_pid is not None:
            self._look_at_threads("client", client_pid, _LOAD_THREADS)
        thread = threading.Thread(target=self._run, name="observer", daemon=True)
        for store in self._stores:
            store.start()
        thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            thread.join()
            self.stop()

    @property
    def waits_seen(self) -> int:
        """How often servers have answered what their connections wait for."""
        return sum(store.waits_seen for store in self._stores)

    def stop(self) -> None:
        """Close the connections; may be called twice, and if nothing was watched."""
        for store in self._stores:
            store.stop()
        self._closing.close()
        self.cpu_s += sum(store.cpu_s for store in self._stores)
        self._stores = []

    def _sample_process(self, name: str, pid: int, forks: bool) -> None:
        process = ProcessSampler(name, pid, self.not_seen, forks)
        self._closing.callback(process.close)
        self._samplers += [process, CgroupSampler(name, pid)]

    def _look_at_threads(self, name: str, pid: int, workers: bytes | None = None) -> None:
        self._threads[name] = ThreadStates(name, pid, self.not_seen, workers, self._loggers)
        self._closing.callback(self._threads[name].close)

    def rows(self) -> Rows:
        """Return where samples go; raises OSError if that cannot be written."""
        return Lines(self._folder / LINES)

    def _run(self) -> None:
        lines = self.rows()
        begun_cpu_s, began = time.thread_time(), time.monotonic()
        next_look = next_sample = next_queues = began
        period_s = SELDOM_S if self._stores and all(store.shows_waits for store in self._stores) else LOOK_PERIOD_S
        try:
            while not self._stopping.wait(max(0.0, next_look - time.monotonic())):
                now = time.monotonic()
                # Before a sample: it waits for answers, after which a server of one thread is always in the same place.
                if now >= next_queues:
                    next_queues = now + max(QUEUES_PERIOD_S, self._look_at_queues() / QUEUES_BUDGET)
                if now >= next_sample:
                    lines.append_object(self.sample())
                    next_sample = max(next_sample + PERIOD_S, now)
                elif self._within_budget(now - began):
                    self._look_at_all_threads()
                self.cpu_s = time.thread_time() - begun_cpu_s
                # A late sample is left out, not caught up with.
                next_look = max(next_look + period_s, now)
            lines.append_object(self.sample())
        except OSError as error:
            # A full disk ends the trial where its records are written; this only says why it was observed no longer.
            self.not_seen["observations"] = f"could not be recorded to the end: {error.strerror or error}"
        finally:
            self.cpu_s = time.thread_time() - begun_cpu_s
            lines.close()

    def _look_at_all_threads(self) -> None:
        for threads in self._threads.values():
            threads.look()

    def _look_at_queues(self) -> float:
        """Return the processor time that it took."""
        begun_cpu_s = time.thread_time()
        for queues in self._queues:
            queues.look()
        return time.thread_time() - begun_cpu_s

    def _within_budget(self, elapsed_s: float) -> bool:
        return self.cpu_s + sum(store.cpu_s for store in self._stores) <= BUDGET * elapsed_s

    def sample(self) -> dict[str, float]:
        """Return a line of `observations.jsonl`: when, and every column that can be seen now."""
        row: dict[str, float] = {AT: round(time.time(), 3)}
        self._look_at_all_threads()
        for store in self._stores:
            store.ask()
        for sampler in self._samplers:
            with suppress(OSError):  # It is not seen now; what can never be was said when the sampler was made.
                row |= sampler.sample()
        waits_of: dict[str, Counts] = {}
        unseen: set[str] = set()
        for store in self._stores:
            counters, waits = store.take()
            row |= counters
            if store.round_trip_s:
                row[f"queue.{store.server}.empty_round_trip_s"] = store.round_trip_s
            if waits or not store.shows_waits:
                waits_of[store.server] = waits
            else:
                # It shows them, but not now: its threads alone would give another quantity under the same name.
                unseen.add(store.server)
        for queues in self._queues:
            row |= queues.take()
        self._rates.see(row)
        for server in sorted({*self._threads, *waits_of} - unseen):
            row |= self._waits(server, waits_of.get(server, {}))
        for server, threads in self._threads.items():
            if (flushing := threads.take_flushing()) is not None:
                row[f"log.{server}.flushing"] = flushing
        return {name: round(value, 6) for name, value in row.items()}

    def _waits(self, server: str, waits: Counts) -> dict[str, float]:
        threads: Counts = {}
        if server in self._threads:
            threads = self._threads[server].take()
            self._threads[server].learn()
        user, system, run_queue = (self._rates.of(f"process.{server}.{name}_s_total") for name in _CPU_COLUMNS)
        cpu = None if user is None or system is None else user + system
        states = combine(waits, threads, cpu, run_queue)
        return {f"waits.{server}.{state}": value for state, value in states.items()}
