"""The limit that full processors are: the server's, one thread's, the host's, or another process's (docs/statistics.md,
section 5.3).

A full processor limits only if threads wait for it. Whoever uses it is named with its share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbdyno.verdict.client import FREE_PROCESSORS, THROTTLED, are_apart, free_processors, run_queue_threads
from dbdyno.verdict.evidence import BUSY_PROCESSORS, RUN_QUEUE_PER_CORE, Measured, cores_to_use
from dbdyno.verdict.limits import COMMIT, DISK, HOST_CPU, OTHERS, SERVER_CPU, SERVER_THREAD

MOST_OF_THE_HOST = 0.85
"""A server that uses this share of all that is used on a full host is what fills it."""
OTHERS_SHARE, STOLEN_SHARE = 1 / 3, 0.2
"""Shares of the host's processors: used by processes outside the trial, and taken by the hypervisor."""
STARVED_BY = 2
"""Times what a side used of its processors that others used, from which on it did not get the idle ones either."""
BRIM_FULL = 0.97
"""Share of the processors it is pinned to that a server uses when they are full though no thread waits for one: a pool
of a few threads holds the operations itself."""
FULL_THREAD, FULL_THREAD_WITH_WAIT = 0.85, 0.9
"""Shares of the time that a full thread is on a processor, or is on one or waits for one."""

COMPILERS = ("C1 CompilerThre", "C2 CompilerThre")
"""Threads of a Java machine that compile its code: no operation waits for them."""

KNOWN_WORK = 0.5
"""Share of the time of threads which are never idle that must be known. Waits of some µs are hardly ever observed."""


@dataclass(frozen=True, slots=True)
class Full:
    """The full resource, and the sign of it."""

    limit: str
    signs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consumers:
    """The use of the host's processors, in processors.

    Attributes:
        others: processes that are not part of the trial.
        stolen: taken by the hypervisor.
    """

    host: float
    servers: dict[str, float]
    client: float
    observers: float
    others: float
    stolen: float

    @classmethod
    def of(cls, measured: Measured) -> Consumers | None:
        """Return them; `None` if the host, the servers or the client were not observed."""
        host, free = measured.host_cores(), free_processors(measured.trial)
        servers = {name: measured.cores((name,)) for name in _servers(measured)}
        client = 0.0 if measured.trial.facts.hosts else measured.cores(("client",))
        known = {name: cores for name, cores in servers.items() if cores is not None}
        if host is None or free is None or client is None or len(known) < len(servers):
            return None
        observers = measured.observers_cores()
        stolen = measured.rate("host.cpu_steal_s_total") or 0.0
        others = max(0.0, host * (1 - free) - stolen - sum(known.values()) - client - observers)
        return cls(host, known, client, observers, others, stolen)

    def share_of_server(self, embedded: bool) -> float:
        """Return which share of all that was used the store used; an embedded one works in the client."""
        server = sum(self.servers.values()) + (self.client if embedded else 0.0)
        used = sum(self.servers.values()) + self.client + self.observers + self.others
        return server / used if used else 0.0

    def words(self) -> str:
        """Return each consumer's share of the host."""
        client = "the load client" if self.servers else "the store in its load client"
        shares = {**self.servers, client: self.client, "dbdyno's observers": self.observers}
        shares |= {"other processes": self.others, "the hypervisor": self.stolen}
        said = ", ".join(f"{name} {used / self.host:.0%}" for name, used in shares.items() if used >= 0.01 * self.host)
        return f"the host's {self.host:.0f} processors were full: {said}"


def full_processors(measured: Measured) -> Full | None:
    """Return which processors or threads were full and waited for; `None` if none was observed to be."""
    quotas = tuple(_quotas(measured))
    if quotas:
        return Full(SERVER_CPU, quotas)
    consumers = _consumers_of_full_host(measured)
    if others := tuple(_others(measured, consumers)):
        return Full(OTHERS, others)
    if thread := tuple(full_threads(measured, FULL_THREAD, FULL_THREAD)):
        return Full(SERVER_THREAD, thread)
    if pinned := tuple(_pinned_full(measured)):
        return Full(SERVER_CPU, pinned)
    if consumers:
        most = consumers.share_of_server(measured.trial.embedded) >= MOST_OF_THE_HOST
        return Full(SERVER_CPU if most else HOST_CPU, (consumers.words(),))
    thread = tuple(full_threads(measured, 0.0, FULL_THREAD_WITH_WAIT))
    return Full(SERVER_THREAD, thread) if thread else None


def _servers(measured: Measured) -> tuple[str, ...]:
    """The servers' processes; an embedded store has none beside the load client."""
    return () if measured.trial.embedded else measured.trial.server_names


def _quotas(measured: Measured) -> Iterator[str]:
    servers = ("client",) if measured.trial.embedded else measured.trial.server_names
    for server in servers:
        held_back = measured.rate(f"cgroup.{server}.throttled_s_total") or 0.0
        if held_back >= THROTTLED:
            used = measured.cores((server,)) or 0.0
            yield f"a CPU quota throttled {server} for {held_back:.2f} s in every second, at {used:.2f} processors"


def _consumers_of_full_host(measured: Measured) -> Consumers | None:
    """Return them if no processor of the host was idle and threads of the trial waited for one."""
    consumers, free = Consumers.of(measured), free_processors(measured.trial)
    if consumers is None or free is None or free >= FREE_PROCESSORS:
        return None
    waiting = run_queue_threads(measured.trial, (*_servers(measured), "client")) or 0.0
    return consumers if waiting >= RUN_QUEUE_PER_CORE * consumers.host else None


def _others(measured: Measured, consumers: Consumers | None) -> Iterator[str]:
    """Yield that other processes took much of a full host, or of the processors that a side of the trial is pinned to.

    consumers: of a full host.
    """
    if consumers and max(consumers.others / OTHERS_SHARE, consumers.stolen / STOLEN_SHARE) >= consumers.host:
        yield consumers.words()
    facts = measured.trial.facts
    for side, pinned in (("server", facts.server_cpus), ("client", facts.client_cpus)):
        share = taken_share(measured, side)
        queue = run_queue_threads(measured.trial, _processes(measured, side)) or 0.0
        if pinned and share >= OTHERS_SHARE and queue >= RUN_QUEUE_PER_CORE * len(pinned):
            whose = "the processors that the server" if side == "server" else "the processors that the load client"
            yield f"others used {share:.0%} of {whose} is pinned to; {queue:.1f} of its threads waited"


def _processes(measured: Measured, side: str) -> tuple[str, ...]:
    return ("client",) if side == "client" else _servers(measured)


def taken_share(measured: Measured, side: str) -> float:
    """Return which share of the processors that a side is pinned to others used, if none was left idle; else 0.

    If the other side may use the same processors, what it used counts as the trial's own. Idle ones were of no use to
    a side whose threads waited while others used twice as much as it did.

    side: `server` or `client`; an embedded store is the client.
    """
    facts = measured.trial.facts
    client, server = set(facts.client_cpus or ()), set(facts.server_cpus or ())
    processors = len(client if side == "client" else server)
    used = measured.cores(_processes(measured, side) if are_apart(measured.trial) else (*_servers(measured), "client"))
    work, idle = (measured.rate(f"host.{side}_cpus_{what}_s_total") for what in ("work", "idle"))
    if not processors or used is None or work is None or idle is None:
        return 0.0
    others = work - used
    left = idle >= FREE_PROCESSORS * processors and others < STARVED_BY * used
    return 0.0 if left else others / processors


def _pinned_full(measured: Measured) -> Iterator[str]:
    """Yield that the processors a server is pinned to were all in use by it, and waited for."""
    trial = measured.trial
    pinned = trial.facts.client_cpus if trial.embedded else trial.facts.server_cpus
    servers = ("client",) if trial.embedded else trial.server_names
    used, queue = measured.cores(servers), run_queue_threads(trial, servers)
    usable = cores_to_use(measured, servers, pinned)
    if not pinned or used is None or not usable:
        return
    is_waited_for = used >= BUSY_PROCESSORS * usable and (queue or 0.0) >= RUN_QUEUE_PER_CORE * len(pinned)
    if is_waited_for or used >= BRIM_FULL * usable:
        waited = f"; {queue:.1f} threads waited" if is_waited_for else ""
        its = "the processor" if round(usable) == 1 else f"the {usable:.0f} processors"
        yield f"it used {used:.2f} of {its} it is pinned to{waited}"


def full_threads(measured: Measured, least_cpu: float, least_at_work: float) -> Iterator[str]:
    """Yield each thread of a server that is full, by its name.

    A server with a thread for each operation in flight is left out: its threads do not queue operations.

    Args:
        least_cpu: share of the time on a processor.
        least_at_work: share of the time on a processor or waiting for one.
    """
    for server in _servers(measured):
        if measured.thread_each(server) or measured.trial.facts.transactions_in_flight <= 1:
            continue
        for name in _threads_of(measured, server):
            if name in COMPILERS:
                continue
            cpu, waiting = (measured.of_threads(server, f"{name}.busiest_{what}") for what in ("cpu", "run_queue"))
            if cpu >= least_cpu and cpu + waiting >= least_at_work:
                yield f"its thread '{name}' was busy {min(1.0, cpu + waiting):.0%} of the time ({cpu:.0%} on a CPU)"
        yield from _full_pool(measured, server, least_at_work)


def _full_pool(measured: Measured, server: str, least_at_work: float) -> Iterator[str]:
    """Yield that all threads which serve clients were at work, if there are several."""
    states = _states_of(measured, server)
    threads = sum(states.values())
    at_work = sum(states.get(state, 0.0) for state in ("cpu", "cpu_wait"))
    if threads > 1 and at_work >= least_at_work * threads:
        several = f"its {threads:.0f} serving threads" if threads >= 1.5 else "its serving threads, mostly one,"
        yield f"{several} were busy {min(1.0, at_work / threads):.0%} of the time"


def taken_threads(measured: Measured) -> Iterator[tuple[str, str]]:
    """Yield what the few threads of a server that serve clients mostly did, if hardly ever one waited for a client.

    With the sign of it: SERVER_THREAD if they were on a processor or waited for one, COMMIT or DISK. What queues in
    front of them waits for that.
    """
    for server in _servers(measured):
        states = _states_of(measured, server)
        threads = sum(states.values())
        did = {
            SERVER_THREAD: states.get("cpu", 0.0) + states.get("cpu_wait", 0.0),
            COMMIT: states.get("commit", 0.0),
            DISK: states.get("disk", 0.0),
        }
        is_idle = states.get("client", 0.0) > (1 - FULL_THREAD_WITH_WAIT) * threads
        if not threads or is_idle or measured.thread_each(server) or sum(did.values()) < KNOWN_WORK * threads:
            continue
        limit = max(did, key=lambda name: did[name])
        yield (
            limit,
            f"the threads of {server} that serve clients were idle {states.get('client', 0.0) / threads:.0%} of the "
            f"time, at work {did[SERVER_THREAD] / threads:.0%}, in a flush {did[COMMIT] / threads:.0%} and waiting for "
            f"the disk {did[DISK] / threads:.0%}",
        )


def _states_of(measured: Measured, server: str) -> dict[str, float]:
    """Return how many of a server's serving threads were in each state, on average."""
    prefix = f"waits.{server}."
    return {name.removeprefix(prefix): measured.mean(name) or 0.0 for name in measured.observations.names(prefix)}


def _threads_of(measured: Measured, server: str) -> list[str]:
    prefix = f"threads.{server}."
    return sorted({name.removeprefix(prefix).rpartition(".")[0] for name in measured.observations.names(prefix)})
