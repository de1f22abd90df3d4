"""Evidence for a limit beside the time budget: was the resource used up? (docs/statistics.md, section 5.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dbdyno.results.facts import client_host
from dbdyno.results.observations import HOSTS, read_observations
from dbdyno.verdict.client import THROTTLED, free_processors

if TYPE_CHECKING:
    from dbdyno.results.json_types import HostStated
    from dbdyno.results.model import Trial
    from dbdyno.results.samples import Observations

A_THREAD_EACH = 0.9
"""A server whose threads are this share of the operations in flight has one for each, so that these tell where they
are. In front of one with fewer, an event loop or a pool, operations can wait unseen."""
BUSY_PROCESSORS = 0.9
RUN_QUEUE_PER_CORE = 0.2
DISTURBING = 0.1
"""Share of the host's processors that others may use before it is mentioned."""
ON_THE_WAY = 0.05
"""Share of the operations in flight whose data was sent and not received: fewer explain nothing."""
LONG_WAY_S = 0.002
"""An empty request that takes less may only have waited until idle threads woke up on a busy host."""
FULL_LINK = 0.9
"""Share of what a link carried alone, in bytes of data; what its host counts under load has the headers too."""
CLIENT_TASKS = ("request", "read", "write")
"""Tasks for clients of a server's thread pools, by the name in its counters."""
IO_PRESSURE = 0.2
BUSY_DISK = 0.9
FLUSHES_MOSTLY = 0.5
"""Share of the time that a server's log thread is in a flush: more, and whoever writes mostly waits for it."""
CLIENTS_WRITE = 0.1
"""Share of a server's pages written by the threads that serve clients: from there on its buffers lack room."""
WRITERS = {
    "client_backend": "processes that serve clients",
    "background_writer": "the background writer",
    "checkpointer": "checkpoints",
    "autovacuum_worker": "vacuuming",
    "other": "others",
}
"""Processes of a server that write pages, by the name in its counters."""
_HOST_CPU = ("user", "system", "iowait", "steal", "idle")


@dataclass(frozen=True, slots=True)
class Measured:
    """Observations of one trial over its measured seconds; `None` if not observed."""

    trial: Trial
    observations: Observations
    begin_unix_s: float
    end_unix_s: float

    @classmethod
    def of(cls, trial: Trial) -> Measured | None:
        """Return it, or `None` if nothing was observed or measured."""
        window = trial.recorded.window_unix_s
        return None if window is None or trial.observations is None else cls(trial, trial.observations, *window)

    def rate(self, *names: str) -> float | None:
        """Return how fast these grew together, per second; `None` if any was not seen."""
        rates = [self.observations.mean_rate(name, self.begin_unix_s, self.end_unix_s) for name in names]
        return None if not rates or None in rates else sum(rate for rate in rates if rate is not None)

    def mean(self, name: str) -> float | None:
        """Return the mean of a quantity."""
        return self.observations.mean(name, self.begin_unix_s, self.end_unix_s)

    def cores(self, processes: Sequence[str]) -> float | None:
        """Return the CPU seconds per second of some processes; `None` if any was not seen."""
        return self.rate(*(f"process.{name}.cpu_{kind}_s_total" for name in processes for kind in ("user", "system")))

    def host_cores(self) -> float | None:
        """Return how many processors the host has."""
        return self.rate(*(f"host.cpu_{state}_s_total" for state in _HOST_CPU))

    def third(self, number: int) -> Measured:
        """Return the same of the first third of its time, 0, the second, 1, or the last, 2."""
        length_s = (self.end_unix_s - self.begin_unix_s) / 3
        begin = self.begin_unix_s + number * length_s
        return replace(self, begin_unix_s=begin, end_unix_s=begin + length_s)

    def completed_per_s(self) -> float:
        """Return the transactions per second of its time, of its measured seconds; 0 without any."""
        recorded = self.trial.recorded
        ends = (recorded.run_began_unix_s or 0.0) + np.cumsum([interval.seconds for interval in recorded.intervals])
        completed = lasted_s = 0.0
        for end, interval in zip(ends.tolist(), recorded.intervals, strict=True):
            within_s = min(end, self.end_unix_s) - max(end - interval.seconds, self.begin_unix_s)
            if interval.measured and within_s > 0:
                completed += interval.completed * within_s / interval.seconds
                lasted_s += within_s
        return completed / lasted_s if lasted_s else 0.0

    def of_threads(self, server: str, column: str) -> float:
        """Return the mean over the samples that looked at a server's threads; a thread in none did next to nothing."""
        observations, prefix = self.observations, f"threads.{server}."
        values = observations.columns.get(prefix + column)
        if values is None:
            return 0.0
        looked = ~np.all(np.isnan([observations.columns[name] for name in observations.names(prefix)]), axis=0)
        looked &= observations.within(self.begin_unix_s, self.end_unix_s)
        return float(np.nan_to_num(values)[looked].mean()) if looked.any() else 0.0

    def observers_cores(self) -> float:
        """Return how many processors dbdyno itself used on average, its observers and its server's answers' reading."""
        facts = self.trial.facts
        if facts.observer_cpu_s is None or not facts.started_unix_s or not facts.ended_unix_s:
            return 0.0
        used_s = max(facts.observer_cpu_s, facts.python_cpu_s or 0.0)
        return used_s / max(1.0, facts.ended_unix_s - facts.started_unix_s)

    def thread_each(self, server: str) -> bool:
        """Return whether a server has a thread for each operation in flight, so its threads show where these are.

        What a pool shows are connections: it says itself that their tasks are queued for its threads.
        """
        if sum(self.mean(f"store.{server}.{task}_tasks_pending") or 0.0 for task in CLIENT_TASKS) >= 1:
            return False
        threads = sum(self.mean(name) or 0.0 for name in self.observations.names(f"waits.{server}."))
        return threads >= A_THREAD_EACH * self.trial.facts.transactions_in_flight


def cores_to_use(measured: Measured, processes: Sequence[str], pinned: Sequence[int] | None) -> float | None:
    """Return how many processors some processes could use, `None` if that was not observed.

    It is what they used, if a quota held them back, or those they are pinned to. Else it is what they used, and what
    was idle beside them.
    """
    if throttled(measured, processes):
        return measured.cores(processes)
    if pinned:
        return float(len(pinned))
    used, host, free = measured.cores(processes), measured.host_cores(), free_processors(measured.trial)
    return None if used is None or host is None or free is None else used + free * host


def processors_filled(measured: Measured, server: str) -> float | None:
    """Return how many processors a server used, if that is all it may use; else `None`."""
    used, usable = measured.cores((server,)), cores_to_use(measured, (server,), measured.trial.facts.server_cpus)
    return used if used and usable and used >= BUSY_PROCESSORS * usable else None


def others_cores(measured: Measured) -> float | None:
    """Return how many of the host's processors other processes used, if it is enough to disturb; else `None`.

    No process of this host had the time that the hypervisor took. The tools of a copy are no observed process, so none
    is then known to be another.
    """
    if measured.trial.facts.copy is not None:
        return None
    host, free = measured.host_cores(), free_processors(measured.trial)
    known = {name.split(".")[1] for name in measured.observations.names("process.")}
    used = measured.cores(tuple(known))
    stolen = measured.rate("host.cpu_steal_s_total")
    if host is None or free is None or used is None or stolen is None:
        return None
    rest = host * (1 - free) - stolen - used
    return rest if rest >= DISTURBING * host else None


def others(measured: Measured) -> str | None:
    """Return that in words, and what the hypervisor took if that is as much; `None` if neither disturbs."""
    host, stolen, rest = measured.host_cores(), measured.rate("host.cpu_steal_s_total"), others_cores(measured)
    if host is None:
        return None
    said = [f"other processes used {rest:.2f} of the host's {host:.0f} processors"] if rest is not None else []
    if stolen is not None and stolen >= DISTURBING * host:
        said.append(f"the hypervisor took {stolen:.2f} of the host's {host:.0f} processors")
    return " and ".join(said) or None


def throttled(measured: Measured, processes: Sequence[str]) -> bool:
    """Return whether a quota held any of them back, so that what they used is what they had."""
    rates = [measured.rate(f"cgroup.{name}.throttled_s_total") or 0.0 for name in processes]
    return max(rates, default=0.0) >= THROTTLED


def disk(measured: Measured) -> Iterator[str]:
    """Yield what says that the disk had no more to give."""
    pressure = measured.rate("pressure.io_some_s_total")
    if pressure is not None and pressure >= IO_PRESSURE:
        yield f"something waited for the disk {min(1.0, pressure):.0%} of the time (pressure)"
    for device in sorted({name.split(".")[1] for name in measured.observations.names("disk.")}):
        busy = measured.rate(f"disk.{device}.busy_s_total")
        if busy is not None and busy >= BUSY_DISK:
            yield f"{device} was {min(1.0, busy):.0%} busy"


def on_the_way(measured: Measured) -> Iterator[str]:
    """Yield how operations on the way were observed: figures, and no sign.

    A requested delay is a separate sign (`decision.py`).
    """
    facts = measured.trial.facts
    if facts.hosts:
        yield from _between_hosts(facts.hosts)
        return
    for server in measured.trial.server_names:
        queue = f"queue.{server}."
        sent = [measured.mean(f"{queue}{what}_in_transit") or 0.0 for what in ("requests", "answers")]
        whole, round_trip_s = (measured.mean(queue + what) for what in ("whole_connections", "min_rtt_s"))
        if measured.mean(f"{queue}unread_requests") is None:
            if round_trip_s:
                yield f"{server} is on another host, and its shortest round trip took {1e3 * round_trip_s:.2g} ms"
        elif sum(sent) * (facts.pipeline or 1) >= ON_THE_WAY * facts.transactions_in_flight:
            yield f"{sent[0]:.1f} connections held requests and {sent[1]:.1f} answers that were sent and not received"
        elif whole is not None and whole < A_THREAD_EACH * facts.transactions_in_flight:
            yield f"client and {server} both waited with empty sockets, so a relay or proxy between them had the data"
        elif (empty_s := measured.mean(f"{queue}empty_round_trip_s") or 0.0) >= LONG_WAY_S:
            yield f"an empty request took {1e3 * empty_s:.2g} ms before the load, so a relay or proxy had the data"


def _between_hosts(hosts: Sequence[HostStated]) -> Iterator[str]:
    """Yield what each client host measured of its way to the server."""
    for host in filter(None, map(client_host, hosts)):
        network: Mapping[str, Any] = host.get("network") or {}
        if (took_us := network.get("round_trip_us")) is not None:
            idle_us = network.get("idle_round_trip_us")
            idle = f" ({idle_us / 1e3:.2g} ms before the load)" if idle_us is not None else ""
            again = f"; TCP sent {sent_again:,.0f} segments again" if (sent_again := network.get("retransmits")) else ""
            yield f"a round trip from {host['name']} took {took_us / 1e3:.2g} ms{idle}{again}"


def full_links(measured: Measured) -> Iterator[str]:
    """Yield which hosts' links were full: what they carried was what they had carried at most before the load."""
    facts = measured.trial.facts
    for host in facts.hosts or ():
        link = host.get("link")
        if not link:
            continue
        client = client_host(host)
        network: Mapping[str, object] = (client.get("network") if client else _server_network(measured, host)) or {}
        for verb, rate, capacity in (
            ("sent", network.get("sent_bytes_per_s"), link["sends_bytes_per_s"]),
            ("received", network.get("received_bytes_per_s"), link["receives_bytes_per_s"]),
        ):
            if isinstance(rate, float) and capacity and rate >= FULL_LINK * capacity:
                yield (
                    f"{host['name']} {verb} {rate / 1e6:,.1f} MB/s, {rate / capacity:.0%} of the "
                    f"{capacity / 1e6:,.1f} MB/s that its link carried before the load"
                )


def _server_network(measured: Measured, host: HostStated) -> Mapping[str, float | None]:
    """Return what a server host sent and received during the load."""
    own = measured
    if len(measured.trial.facts.server_hosts) > 1:
        folder = measured.trial.folder
        observations = read_observations(folder / HOSTS / host["name"]) if folder else None
        if observations is None:
            return {}
        own = replace(measured, observations=observations)
    return {f"{what}_bytes_per_s": own.rate(f"network.{what}_bytes_total") for what in ("sent", "received")}


def task_queues(measured: Measured) -> Iterator[str]:
    """Yield which pool of a server's threads had tasks queued, if it tells: figures, and no sign."""
    for server in measured.trial.server_names:
        for task in CLIENT_TASKS:
            column = f"store.{server}.{task}_tasks_"
            pending, active = (measured.mean(column + what) or 0.0 for what in ("pending", "active"))
            if pending >= 1:
                yield f"{server} had {pending:.1f} {task} tasks queued for the threads that worked on {active:.1f}"


def log_flushes(measured: Measured) -> Iterator[str]:
    """Yield that a server flushed its log most of the time, by a thread of its own that writers wait for."""
    for server in measured.trial.server_names:
        flushing = measured.mean(f"log.{server}.flushing") or 0.0
        active = measured.mean(f"store.{server}.write_tasks_active") or 0.0
        if flushing >= FLUSHES_MOSTLY and active >= 1:
            yield f"{server} flushed its log {flushing:.0%} of the time, with {active:.1f} write tasks at work"


def page_writers(measured: Measured) -> Iterator[str]:
    """Yield which of a server's processes wrote its pages, if it tells and they wrote any: figures, and no sign.

    A process that serves a client should find its pages clean: it writes one itself only if no clean one is left.
    """
    for server in measured.trial.server_names:
        rates = {who: measured.rate(f"store.{server}.{key}_page_writes_total") or 0.0 for key, who in WRITERS.items()}
        total = sum(rates.values())
        if total < 1:
            continue
        most_first = sorted(rates, key=lambda who: -rates[who])
        shares = ", ".join(f"{rates[who] / total:.0%} by {who}" for who in most_first if rates[who] >= 0.01 * total)
        late = rates[WRITERS["client_backend"]] >= CLIENTS_WRITE * total
        hint = ": too few of its buffers were clean when they were needed" if late else ""
        yield f"{server} wrote {total:,.0f} pages/s, {shares}{hint}"


def disk_times(measured: Measured) -> Iterator[str]:
    """Yield how long reads, writes and flushes took if there were any: figures, and no sign of anything."""
    for device in sorted({name.split(".")[1] for name in measured.observations.names("disk.")}):
        for kind, operations in (("read", "reads"), ("write", "writes"), ("flush", "flushes")):
            count, time_s = (
                measured.rate(f"disk.{device}.{what}") for what in (f"{operations}_total", f"{kind}_s_total")
            )
            if count and time_s is not None and count >= 1:
                yield f"{count:,.0f} {operations}/s on {device}, {1e3 * time_s / count:.2g} ms each"


OF_ALL_HOSTS = frozenset({on_the_way, full_links})
"""Evidence of the trial, and not of one of its server hosts."""
