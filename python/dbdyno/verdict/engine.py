"""Limits inside a storage engine that processors and waits do not show: memory, a full log, compaction
(docs/statistics.md, section 5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbdyno.verdict.evidence import Measured, disk, processors_filled
from dbdyno.verdict.locks import locks_of

REFAULTS_PER_TRANSACTION = 0.05
"""Pages that were evicted and read again, or fetched for a mapping, for each transaction: one in twenty waits."""
MEMORY_PRESSURE = 0.1
"""Share of the time that a task of the host waited for memory."""
NEAR_ITS_LIMIT = 0.95
"""Share of a memory limit at which the kernel begins to evict."""
LOG_NEARLY_FULL = 0.8
"""Share of the checkpoint age at which a server stops its writers until pages are flushed."""
LOG_FULL = 0.99
"""From this share on, on average, writers wait whenever the log lacks room, however few pages are flushed meanwhile."""
FLUSHED_PER_TRANSACTION = 0.05
"""Pages written for each transaction. A young server fills its log to the brim before it flushes its first page. With a
large log one page is flushed for hundreds of changes. Neither delays writers."""
WRITE_STALLS = 0.1
"""Seconds of writers held back by the engine, in every second, all writers together."""
WRITE_STOPS_PER_S = 0.2
"""Times that the engine stopped or slowed its writers down, if it does not say for how long."""
BUSY_BACKGROUND = 0.6
"""Share of the time that a busy background thread works or waits for a processor."""
TAKEN = 0.8
"""Share of a pool's threads that are at work when it is full: each is counted once a second."""
BEHIND = 0.5
"""Tasks that wait for a full pool, on average."""
COMPACTING = "CompactionExecu"
"""The name of Cassandra's threads that compact, as far as the kernel has it."""
COMPACTING_SHARE = 0.3
"""Share of a server's processor time that its compactions take."""
FREE_PAGE_WAITS_PER_TRANSACTION = 0.01
"""Waits for a page that could be replaced: none is clean, so one is flushed first."""
FORCED_CHECKPOINTS_PER_S = 0.2
"""A checkpoint takes its pages from every transaction; forced every five seconds it has no time to spread them."""
WARNED_CHECKPOINTS_PER_S = 1 / 30
"""From here on servers warn of forced checkpoints. Each makes the log larger: the first change of a page after it logs
the whole page."""
LOG_LATCHES = ("LWLock:WALInsert", "LWLock:WALBufMapping")
"""Waited for by whoever has a change to log while the log is written."""
WAIT_TO_LOG = 0.3
"""Share of the operations in flight that wait for such a latch."""


def memory(measured: Measured) -> Iterator[str]:
    """Yield what says that memory was too small for what the store worked on."""
    processes = ("client",) if measured.trial.embedded else measured.trial.server_names
    per_s = measured.trial.recorded.throughput_per_s or 0.0
    # The pressure is the whole host's: without faults of the store's own it is a neighbour's.
    pressure = measured.rate("pressure.memory_some_s_total") or 0.0
    for name in processes:
        refaults = measured.rate(f"cgroup.{name}.refaulted_pages_total") or 0.0
        limit, used = (measured.mean(f"cgroup.{name}.memory_{what}") for what in ("limit_bytes", "bytes"))
        if limit and used and used >= NEAR_ITS_LIMIT * limit and refaults >= REFAULTS_PER_TRANSACTION * per_s > 0:
            yield (
                f"{name} used {used / 2**20:,.0f} of the {limit / 2**20:,.0f} MiB it may have, "
                f"and read {refaults:,.0f} evicted pages/s again"
            )
        faults = measured.rate(f"process.{name}.major_faults_total") or 0.0
        if pressure >= MEMORY_PRESSURE and faults >= REFAULTS_PER_TRANSACTION * per_s > 0:
            short = f"the host was short of memory {min(1.0, pressure):.0%} of the time (pressure)"
            yield f"{short}, and {name} fetched {faults:,.0f} pages/s of its own memory from a disk"


def checkpoint(measured: Measured) -> Iterator[str]:
    """Yield what says that writers waited for pages to be flushed, because the log was nearly full."""
    per_s = measured.trial.recorded.throughput_per_s or 0.0
    for server in measured.trial.server_names:
        prefix = f"store.{server}."
        for name in measured.observations.names(prefix):
            if name.endswith("checkpoint_max_age_bytes"):
                yield from _log_age(measured, server, name)
            waits = (measured.rate(name) or 0.0) if name.endswith("free_page_waits_total") else 0.0
            if waits >= FREE_PAGE_WAITS_PER_TRANSACTION * per_s > 0:
                yield f"{server} waited {waits:,.0f} times/s for a page to be flushed before it could be replaced"
        forced = measured.rate(f"{prefix}checkpoints_requested_total") or 0.0
        if forced >= FORCED_CHECKPOINTS_PER_S:
            yield f"the full log of {server} forced a checkpoint every {1 / forced:.1f} s"


def log_pressure(measured: Measured) -> Iterator[str]:
    """Yield what says that writers waited to write to the log, while its size forced one checkpoint after another."""
    in_flight = measured.trial.facts.transactions_in_flight
    for lock in locks_of(measured.trial):
        forced = measured.rate(f"store.{lock.server}.checkpoints_requested_total") or 0.0
        if lock.name not in LOG_LATCHES or forced < WARNED_CHECKPOINTS_PER_S:
            continue
        if lock.waiting is not None and lock.waiting >= WAIT_TO_LOG * in_flight:
            waited = f"{lock.waiting:.1f} waited to write to the log of {lock.server} ({lock.name})"
            yield f"{waited}, whose size forced a checkpoint every {1 / forced:.0f} s"


def log_writes(measured: Measured) -> Iterator[str]:
    """Yield what says that writers waited to write to the log because the log itself waited for a disk."""
    in_flight = measured.trial.facts.transactions_in_flight
    for lock in locks_of(measured.trial):
        waiting = (lock.waiting or 0.0) if lock.name in LOG_LATCHES else 0.0
        if waiting >= WAIT_TO_LOG * in_flight and any(disk(measured)):
            yield f"{waiting:.1f} waited to write to the log of {lock.server} ({lock.name})"


def compaction(measured: Measured) -> Iterator[str]:
    """Yield what says that writers waited for the engine's background threads."""
    for server in measured.trial.server_names:
        for name in measured.observations.names(f"store.{server}."):
            if name.endswith("write_stall_s_total") and (stalled := measured.rate(name) or 0.0) >= WRITE_STALLS:
                yield f"{server} stalled writers for {stalled:.2f} s in every second"
        held_back = [measured.rate(f"store.{server}.write_{what}_total") or 0.0 for what in ("stops", "slowdowns")]
        if sum(held_back) >= WRITE_STOPS_PER_S:
            stops, slowdowns = held_back
            yield f"{server} stopped its writers {stops:.2g} times/s, and slowed them down {slowdowns:.2g} times/s"
        yield from _stages(measured, server)
    background = measured.trial.facts.background_threads or {}
    processes = ("client",) if measured.trial.embedded else measured.trial.server_names
    for process in processes:
        for thread, task in background.items():
            column = f"threads.{process}.{thread}.busiest_"
            at_work = sum(measured.mean(column + what) or 0.0 for what in ("cpu", "run_queue"))
            if at_work >= BUSY_BACKGROUND:
                yield f"its thread '{thread}' ({task}) was busy {min(1.0, at_work):.0%} of the time"


def _stages(measured: Measured, server: str) -> Iterator[str]:
    """Yield that all threads of a staged store are taken: by writers that wait for flushes, or by compactions."""
    write, flush, compact = (_Pool.of(measured, server, task) for task in ("write", "flush", "compaction"))
    if write.taken and flush.taken and flush.pending >= BEHIND:
        yield (
            f"{write.active:.0f} of {write.limit:.0f} write threads of {server} were taken, while {flush.pending:.1f} "
            "buffers waited to be flushed"
        )
    used, cores = processors_filled(measured, server), measured.of_threads(server, f"{COMPACTING}.cores")
    if compact.taken and compact.pending >= BEHIND and used and cores >= COMPACTING_SHARE * used:
        behind = f"{server} had {compact.pending:.1f} compactions pending with all {compact.limit:.0f} threads busy"
        yield f"{behind}, which took {cores / used:.0%} of the {used:.2f} processors that it could use"


@dataclass(frozen=True, slots=True)
class _Pool:
    """The threads of a store for one task: how many are at work, how many there are, and the tasks that wait."""

    active: float
    limit: float
    pending: float

    @classmethod
    def of(cls, measured: Measured, server: str, task: str) -> _Pool:
        columns = (f"store.{server}.{task}_tasks_{what}" for what in ("active", "limit", "pending"))
        return cls(*(measured.mean(column) or 0.0 for column in columns))

    @property
    def taken(self) -> bool:
        """True if hardly any of its threads is free."""
        return self.active >= TAKEN * self.limit > 0


def _log_age(measured: Measured, server: str, column: str) -> Iterator[str]:
    most, age = measured.mean(column), measured.mean(column.replace("checkpoint_max_age", "checkpoint_age"))
    flushed = measured.rate(column.replace("checkpoint_max_age_bytes", "pages_flushed_total")) or 0.0
    per_s = measured.trial.recorded.throughput_per_s or 0.0
    if not most or not age or not flushed:
        return
    is_flushing = age >= LOG_NEARLY_FULL * most and flushed >= FLUSHED_PER_TRANSACTION * per_s > 0
    if is_flushing or age >= LOG_FULL * most:
        of = f"{age / 2**20:,.3g} of at most {most / 2**20:,.3g} MiB ({age / most:.0%})"
        yield f"the checkpoint age of {server} was {of}, and it flushed {flushed:,.0f} pages/s"
