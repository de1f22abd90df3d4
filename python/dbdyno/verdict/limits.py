"""The table of limits: everything dbdyno knows of what can limit a trial (docs/verdicts.md has each one tested).

To add a limit, add an entry here, what shows it, and a test. The state of a store's threads shows it, the counter of
its band, or the function of a limit inside the storage engine. Everything else reads this table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from dbdyno.verdict import connections, engine, evidence, old_versions, replication, vacuum
from dbdyno.verdict.evidence import Measured

CLIENT, NETWORK, SERVER_CPU, DISK, LOCK, COMMIT = "client", "network", "server-cpu", "disk", "lock", "commit"
SERVER_QUEUE, SERVER_THREAD, HOST_CPU, OTHERS = "server-queue", "server-thread", "host-cpu", "neighbour"
MEMORY, CHECKPOINT, COMPACTION, STALLS = "memory", "checkpoint", "compaction", "stalls"
REPLICATION, OLD_VERSIONS, VACUUM, CONNECTIONS = "replication", "old-versions", "vacuum", "connections"
RATE, UNEXPLAINED = "rate", "unexplained"

MOST = 0.5
"""A limit that holds at least this share of the operations is clear by the time budget alone."""
LOCKED = 0.3
"""Locks that hold this share of the operations are a separate limit (docs/statistics.md, section 5)."""

Evidence = Callable[[Measured], Iterable[str]]

_AT_WORK = frozenset({SERVER_CPU, SERVER_THREAD, HOST_CPU, SERVER_QUEUE, DISK, UNEXPLAINED})
"""Limits that a store shows while it flushes pages, reads them again or merges files instead of serving."""


class Resource(Enum):
    """Resources that `confirm_limit` can take a part of."""

    CLIENT_CPU = "client cpu"
    SERVER_CPU = "server cpu"
    DISK = "disk"
    FLUSHES = "flushes"


class Changeable(Enum):
    """Changes that `confirm_limit` can make instead, while the server runs."""

    DELAY = "injected delay"
    MEMORY = "memory limit"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class Band:
    """A place where an operation can be while it is in flight, as the time budget has it.

    Attributes:
        colour: of its area in the plot of the time budget.
        state: the state of a server's thread (`waits.<server>.<state>`) that stands for it, or `None`.
        counters: what the kernel counts of a process (`process.<server>.<counter>`), for a store that does not show its
            waits.
    """

    name: str
    colour: str
    state: str | None = None
    counters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit:
    """A possible limit of a trial.

    Attributes:
        name: in `verdict.json`.
        label: in a column of a table.
        noun: in a sentence, after "by".
        held: where the operations are that it holds, in a sentence after "were".
        advice: what to try, in docs/what-limited-it.md.
        bands: of the time budget, those that name it if they are the widest.
        clear_share: it is clear by the time budget alone if it holds this share of the operations in flight.
        self_evident: the server's or the kernel's own word for it needs no other sign.
        names_lock: the lock that was waited for most is part of its evidence.
        resource: what to take a part of to confirm it; `None` if it cannot be reduced.
        changeable: what to change to confirm it instead; a store may have a setting for other limits, too.
        signs: what else speaks for it, with figures.
        figures: what shows how it was, and speaks for nothing.
        inside: of a limit inside the storage engine, which neither waits nor processors show: what says that it was it.
        rule: when `inside` says so, with its figures, for docs/statistics.md, section 5.4.
        seen_as: the limits that the time budget shows for one inside the storage engine.
        if_full: it limits also if processors or threads are full; else these come first.
        embedded: label, noun and `held` of a store that runs inside the load client, if these differ.
        opening: of the sentence, if it is not "Limited by" and the noun.
    """

    name: str
    label: str
    noun: str
    held: str
    advice: str
    bands: tuple[Band, ...] = ()
    clear_share: float = MOST
    self_evident: bool = False
    names_lock: bool = False
    resource: Resource | None = None
    changeable: Changeable | None = None
    signs: tuple[Evidence, ...] = ()
    figures: tuple[Evidence, ...] = ()
    inside: Evidence | None = None
    rule: str = ""
    seen_as: frozenset[str] = frozenset()
    if_full: bool = True
    embedded: tuple[str, str, str] | None = None
    opening: str | None = None

    def label_of(self, embedded: bool) -> str:
        """Return its label for an embedded store, or for another."""
        return self.embedded[0] if embedded and self.embedded else self.label

    def noun_of(self, embedded: bool) -> str:
        """Return its noun for an embedded store, or for another."""
        return self.embedded[1] if embedded and self.embedded else self.noun

    def opening_of(self, embedded: bool) -> str:
        """Return what the sentence about an embedded store, or about another, begins with."""
        return self.opening or f"Limited by {self.noun_of(embedded)}"

    def held_of(self, embedded: bool) -> str:
        """Return where the operations are that it holds, for an embedded store, or for another."""
        return self.embedded[2] if embedded and self.embedded else self.held


def _percent(share: float) -> str:
    return f"{share * 100:g} %"


_TABLE = (
    Limit(
        CLIENT,
        label="client",
        noun="the client",
        held="in the client or waiting for its CPU",
        advice="The figure is a lower bound. Give the client more processors, or move the server to another host.",
        bands=(Band("client_cpu", "#7d6bc9"), Band("client_cpu_wait", "#b9aee8")),
        resource=Resource.CLIENT_CPU,
    ),
    Limit(
        NETWORK,
        label="network",
        noun="the network",
        held="on the way between client and server",
        advice="A shorter network path, or several requests at once (`--pipeline`).",
        bands=(Band("network", "#009e73"),),
        self_evident=True,
        changeable=Changeable.DELAY,
        signs=(evidence.full_links,),
        figures=(evidence.on_the_way,),
    ),
    Limit(
        SERVER_QUEUE,
        label="server queue",
        noun="a queue in front of the server's threads",
        held="queued in front of the server's threads",
        advice="More threads or connections in the server's pool.",
        bands=(Band("server_queue", "#00739c"),),
        self_evident=True,
        figures=(evidence.task_queues,),
    ),
    Limit(
        SERVER_CPU,
        label="server CPU",
        noun="the server's CPU",
        held="on the server's CPU or waiting for it",
        advice="More cores or cheaper statements. `--profile` shows where the time goes.",
        bands=(
            Band("server_cpu", "#0072b2", "cpu", ("cpu_user_s_total", "cpu_system_s_total")),
            Band("server_cpu_wait", "#56b4e9", "cpu_wait", ("run_queue_s_total",)),
        ),
        resource=Resource.SERVER_CPU,
        embedded=("CPU", "the CPU", "on the CPU or waiting for it"),
    ),
    Limit(
        SERVER_THREAD,
        label="server thread",
        noun="the server's threads",
        held="with, or queued for, the server's threads",
        advice="More server threads, such as `io-threads` or `threads`, or several servers.",
        resource=Resource.SERVER_CPU,
    ),
    Limit(
        HOST_CPU,
        label="host CPU",
        noun="the host's CPUs",
        held="on the host's CPUs or waiting for one",
        advice="Pin client and server apart, or move one of them to another host.",
    ),
    Limit(
        OTHERS,
        label="other processes",
        noun="other processes",
        held="on the host's CPUs or waiting for one",
        advice="Stop the other programs, or use a quieter host. `dbdyno doctor` names the busiest.",
    ),
    Limit(
        MEMORY,
        label="memory",
        noun="memory",
        held="in a server that reads evicted pages again",
        advice="More memory for the server, or a smaller cache inside it.",
        changeable=Changeable.MEMORY,
        inside=engine.memory,
        rule=f"A control group was at {_percent(engine.NEAR_ITS_LIMIT)} of its limit, and read "
        f"{engine.REFAULTS_PER_TRANSACTION:g} evicted pages again per transaction. Or the host was short of memory for "
        f"{_percent(engine.MEMORY_PRESSURE)} of the time, and the server fetched "
        f"{engine.REFAULTS_PER_TRANSACTION:g} pages of its own memory from a disk per transaction. These are "
        "the kernel's pressure and its major faults. The pressure alone may be a neighbour's.",
        seen_as=_AT_WORK,
    ),
    Limit(
        CHECKPOINT,
        label="page flushing",
        noun="page flushing",
        held="in a server that flushes pages first",
        advice="A larger redo log, or more I/O capacity for flushing pages.",
        changeable=Changeable.SETTING,
        figures=(evidence.disk_times, evidence.page_writers),
        inside=engine.checkpoint,
        rule=f"The checkpoint age was {_percent(engine.LOG_NEARLY_FULL)} of the age that stops writers, and the server "
        f"flushed {engine.FLUSHED_PER_TRANSACTION:g} pages per transaction. A nearly full log alone delays nobody: a "
        f"young server fills it before it flushes its first page. Or the age was {_percent(engine.LOG_FULL)} of that "
        "age on average, and pages were flushed. Or the log forced a checkpoint every "
        f"{1 / engine.FORCED_CHECKPOINTS_PER_S:.0f} s. Or {engine.FREE_PAGE_WAITS_PER_TRANSACTION:g} times per "
        "transaction a thread waited for a page that could be replaced. "
        f"If {_percent(engine.WAIT_TO_LOG)} of the operations wait for a latch of the log, a forced checkpoint every "
        f"{1 / engine.WARNED_CHECKPOINTS_PER_S:.0f} s is enough: each makes the log larger. If none was forced, and "
        "something waited for a disk (the signs of **disk**), these operations count as **commit**.",
        seen_as=_AT_WORK | {COMMIT},
    ),
    Limit(
        COMPACTION,
        label="compaction",
        noun="compaction",
        held="waiting in a store whose background threads are behind",
        advice="Larger write buffers, more background threads, or a slower stream of writes.",
        figures=(evidence.disk_times,),
        inside=engine.compaction,
        rule=f"The engine stalled writers for {engine.WRITE_STALLS:g} s in every second. Or its log says that it "
        f"stopped or slowed writers down every {1 / engine.WRITE_STOPS_PER_S:.0f} s. Or a background thread that the "
        "system declares (`background_threads`) was busy for "
        f"{_percent(engine.BUSY_BACKGROUND)} of the time. Or {_percent(engine.TAKEN)} of Cassandra's threads that "
        "write were taken while buffers waited to be flushed. Or its compactions were behind with all their threads at "
        f"work, and took {_percent(engine.COMPACTING_SHARE)} of the processors that it could use.",
        seen_as=_AT_WORK | {COMMIT, LOCK},
    ),
    Limit(
        REPLICATION,
        label="replication",
        noun="replication",
        held="in a server that waits for other nodes",
        advice="A faster replica or network, or commits that wait for fewer nodes.",
        inside=replication.replication,
        rule=f"{_percent(replication.WAITING)} of the operations waited for another node: a standby or replica that "
        "acknowledges, or the certification or flow control of a cluster. Or flow control paused a node for "
        f"{_percent(replication.PAUSED)} of the time. Or {_percent(replication.REFUSED)} of the commits failed "
        "certification or gave way to another node's.",
        seen_as=_AT_WORK | {COMMIT, LOCK},
    ),
    Limit(
        OLD_VERSIONS,
        label="old versions",
        noun="old row versions",
        held="in a server with many old row versions",
        advice="End the transaction that keeps them, or have the server remove them sooner (vacuum, purge).",
        inside=old_versions.old_versions,
        rule=f"A transaction looked at {old_versions.MORE_PAGES:g} times as many pages in the last third of the trial "
        f"as in the first. Meanwhile old row versions grew {old_versions.MORE_VERSIONS:g} times, to "
        f"{old_versions.LEAST_VERSIONS:,} or more (dead rows, history list).",
        seen_as=_AT_WORK,
    ),
    Limit(
        VACUUM,
        label="vacuum",
        noun="vacuuming",
        held="in a server that vacuums and analyses tables meanwhile",
        advice="Let it do less at a time (`autovacuum_vacuum_cost_delay`), or when there is less load.",
        inside=vacuum.vacuum,
        rule=f"The server used all its processors, and its vacuuming took {_percent(vacuum.VACUUM_CPU)} of that. Or a "
        f"disk was waited for, and {_percent(vacuum.VACUUM_PAGES)} of the pages that the server read and wrote were "
        "for vacuuming.",
        seen_as=_AT_WORK | {COMMIT},
    ),
    Limit(
        CONNECTIONS,
        label="connections",
        noun="the number of connections",
        held="behind the server's limit of connections",
        advice="More connections on the server, fewer clients, or a pool of connections.",
        inside=connections.connections,
        rule=f"A server refused {_percent(connections.REFUSED)} of the connections that clients tried to open, in "
        f"{_percent(connections.REFUSING)} of the seconds, and said that it had too many. Or it accepted none for "
        f"{_percent(connections.NOT_ACCEPTING)} of the time. Or the queue of new connections was full: by "
        f"Little's law {_percent(connections.WAITING)} of the clients waited for the kernel to ask again. Full "
        "processors or threads come first.",
        seen_as=_AT_WORK | {COMMIT},
        if_full=False,
    ),
    Limit(
        DISK,
        label="disk",
        noun="the disk",
        held="waiting for the disk",
        advice="A larger cache or a faster device.",
        bands=(Band("disk", "#d55e00", "disk", ("io_delay_s_total",)),),
        resource=Resource.DISK,
        signs=(evidence.disk,),
        figures=(evidence.disk_times, evidence.page_writers),
    ),
    Limit(
        LOCK,
        label="locks",
        noun="locks",
        held="waiting for a lock",
        advice="Fewer clients on the same rows, or shorter transactions. The report names the lock.",
        bands=(Band("lock", "#cc79a7", "lock"),),
        clear_share=LOCKED,
        self_evident=True,
        names_lock=True,
    ),
    Limit(
        COMMIT,
        label="commit flush",
        noun="the flush at commit",
        held="waiting for a commit to be flushed",
        advice="A faster device, group commit, or a weaker [durability class](durability-classes.md).",
        bands=(Band("commit", "#e69f00", "commit"),),
        self_evident=True,
        names_lock=True,
        resource=Resource.FLUSHES,
        signs=(evidence.log_flushes, evidence.disk),
        figures=(evidence.disk_times,),
    ),
    Limit(
        RATE,
        label="rate",
        noun="the requested rate",
        held="",
        advice="The store can do more: a higher `--rate`, or `--find-rate`.",
        opening="Not limited: it kept up with the requested rate",
    ),
    Limit(
        STALLS,
        label="stalls",
        noun="stalls",
        held="unexplained or queued",
        advice="Look at throughput over time in the report. `--profile on-stall` records stacks in a stall of seconds.",
    ),
    Limit(
        UNEXPLAINED,
        label="unknown",
        noun="unexplained",
        held="unexplained",
        advice="Read *not observed* in the report. As root dbdyno sees more.",
        bands=(Band("unexplained", "#8a8f98"),),
        opening="Limit unknown",
    ),
)

LIMITS = {limit.name: limit for limit in _TABLE}
"""Every limit by its name, in the order of its bands."""
BANDS = tuple(band for limit in _TABLE for band in limit.bands)
"""Bands: the states of an operation, from the client to its waits in the server; the last is the remainder."""
LIMIT_OF = {band.name: limit.name for limit in _TABLE for band in limit.bands}
"""The limit that each band names if it is the widest."""


def noun_of(limit: str, embedded: bool = False) -> str:
    """Return a limit's noun; one that this version does not know is called by its name."""
    return LIMITS[limit].noun_of(embedded) if limit in LIMITS else limit


def label_of(limit: str, embedded: bool = False) -> str:
    """Return a limit's label; one that this version does not know is called by its name."""
    return LIMITS[limit].label_of(embedded) if limit in LIMITS else limit
