"""The keys of a trial in the document of a run, and what each holds (see `dbdyno.report.core.documents`).

A `JsonObject` is settings, options or a check, in the words of a store, a workload or a load client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from dbdyno.report.core.event_documents import EventsDocument
from dbdyno.report.core.times import TimedDocument
from dbdyno.results.json_types import GroupDone
from dbdyno.results.usable import Evenness

if TYPE_CHECKING:
    from dbdyno.contract import ErrorRecord, JsonObject, MismatchRecord, MovedKeysRecord
    from dbdyno.results.conclusions import Budget, Locks, Verdict
    from dbdyno.results.json_types import (
        AnalysisStated,
        CopyStated,
        CrashStated,
        HostStated,
        LagStated,
        LoadedStated,
        NotSeenStated,
        PaceStated,
        RateStated,
        ServerStated,
    )

LoadKey = Literal["workload", "rows", "clients", "pipeline", "network_delay_us"]


class PerMinuteDocument(TypedDict, total=False):
    """How many transactions of one kind there were a minute."""

    per_minute: float


class GroupDocument(GroupDone, TimedDocument):
    """A group of clients: what it was asked to do, and what it did."""


class PacedDocument(TypedDict, total=False):
    """How clients pause and keep connections, and their groups, if an experiment says so."""

    pace: PaceStated
    client_groups: Sequence[GroupDocument]


class TransactionDocument(TimedDocument):
    """The times of whole transactions."""

    name: str | None


class OperationDocument(PerMinuteDocument, TimedDocument):
    """One operation of a transaction, or the transactions of one kind, which have a rate."""

    operation: str | None
    table: str | None
    errors: int
    conflicts: int


class StabilityDocument(Evenness):
    """How evenly a trial ran."""

    seconds_below_half: int | None
    variation_10s: float | None
    worst_second_p99_us: float | None


SteadyStateDocument = TypedDict(
    "SteadyStateDocument",
    {
        "class": str,
        "steady": bool,
        "cut_s": int,
        "kept": float,
        "period_s": int | None,
        "drift": float | None,
        "drift_per_hour": float | None,
        "mean_per_s": float | None,
        "applied": bool,
    },
)
"""When throughput became steady; written as a call, because a key is a keyword of Python."""


class EndingDocument(TypedDict):
    """The mean of the last third."""

    seconds: int
    throughput_per_s: float | None


class StallSecondDocument(TypedDict, total=False):
    """The stalls of one second, if the load client records them."""

    longest_stall_ms: float
    stalled_share: float


class ProfiledSecondDocument(TypedDict, total=False):
    """Present if stacks were recorded in a second, so that figures leave it out."""

    profiled: bool


class OldRowsSecondDocument(TypedDict, total=False):
    """The old row versions that a store had yet to remove, if one was observed in a second."""

    old_rows: float


class SecondDocument(StallSecondDocument, ProfiledSecondDocument, OldRowsSecondDocument):
    """One second of a trial."""

    second: int
    transactions: int
    errors: int
    p50_us: float | None
    p95_us: float | None
    p99_us: float | None
    p999_us: float | None
    hit_ratio: float | None
    warmup: bool
    seconds: float
    connected: int


class WarmUpDocument(TypedDict):
    """How long a store took to be warm after a restart."""

    warm_per_s: float
    seconds: int | None
    first_per_s: float
    answered_s: float | None


class ProcessDocument(TypedDict):
    """The resources that one process used."""

    process: str
    cores: float | None
    resident_bytes: int
    private_bytes: int | None


class PreparedDocument(TypedDict):
    """How many rows were loaded before the trial, and in how many seconds."""

    rows: int | None
    seconds: float | None


class CostDocument(TypedDict):
    """The cost of a transaction; `None` if it was not observed."""

    client_cpu_us: float | None
    server_cpu_us: float | None
    context_switches: float | None
    bytes_read: float | None
    bytes_written: float | None
    bytes_on_disk: int | None


class LoadDocument(TypedDict):
    """The load on a store; little is known of a trial that was not reached."""

    workload: str | None
    rows: int | None
    clients: int | None
    pipeline: int
    network_delay_us: int


class RatedDocument(TypedDict):
    """The clients and the rate of a load; a closed loop has no rate."""

    clients: int | None
    rate: RateStated | None


class LabelledDocument(TypedDict):
    """The keys that distinguish the systems of a table."""

    label: str
    pipeline: int
    network_delay_us: int


class AskedDocument(LoadDocument):
    """The plan of a trial, and how it ended."""

    trial: str
    system: str | None
    label: str
    client: str
    client_library: str | None
    client_own_cpu_us_per_transaction: float | None
    state: str
    reason: str | None
    warnings: Sequence[str]
    settings: JsonObject | None
    options: JsonObject | None
    repeat: int | None
    attached: bool | None
    embedded: bool
    warmup: str | None
    data: str | None
    cache_state: str | None
    warm_up: WarmUpDocument | None
    rate: RateStated | None
    durability: str | None
    durability_reason: str | None
    loaded: LoadedStated | None
    analysis: AnalysisStated | None
    crash: CrashStated | None
    copy: CopyStated | None


class VariantDocument(TypedDict, total=False):
    """The keys of the experiment that a system has for itself, in the words of its label; most have none."""

    variant: Mapping[str, str]


class CountedDocument(TypedDict):
    """Counters of an arrangement, such as cache hits."""

    counters: Mapping[str, float]


class FiguresDocument(CountedDocument):
    """The figures of a trial's transactions as a whole."""

    seconds: float
    warmup_seconds: float
    transactions: int
    throughput_per_s: float | None
    errors: int
    errors_by_kind: Mapping[str, int]
    failed: int
    conflicts: int
    rows_read_per_s: float | None
    reads_verified: int
    mismatches: int
    moved_keys: MovedKeysRecord | None


class OpenLoopDocument(TypedDict, total=False):
    """The offered rate of an open loop, and what became of it; a closed loop has none of these keys."""

    offered_per_s: float | None
    achieved_per_s: float | None
    followed: bool | None
    late: int | None
    unfinished: int | None
    never_begun: int | None


class QueryVerdictsDocument(TypedDict, total=False):
    """The verdicts on the queries of an analysis; none of another trial, or if the observations say nothing."""

    query_verdicts: Mapping[str, Verdict]


class ConcludedDocument(QueryVerdictsDocument):
    """The conclusions about a trial."""

    client_limited: bool
    client_limited_evidence: str | None
    others_cores: float | None
    verdict: Verdict | None
    time_budget: Budget | None
    locks: Locks


class RecordedDocument(TypedDict):
    """The records of the load client."""

    transaction: TransactionDocument
    operations: Mapping[str, OperationDocument]
    stability: StabilityDocument
    ending: EndingDocument
    steady_state: SteadyStateDocument
    checks: Sequence[JsonObject]
    first_errors: Sequence[ErrorRecord]
    first_mismatches: Sequence[MismatchRecord]


class SurroundingsDocument(TypedDict):
    """The servers, processors and processes of a trial, and what was observed of them."""

    servers: Sequence[ServerStated]
    layout: str | None
    client_cpus: Sequence[int] | None
    server_cpus: Sequence[int] | None
    memory_limit_bytes: int | None
    load: PreparedDocument | None
    observer_cpu_s: float | None
    observer_cpu_share: float | None
    not_seen: Sequence[NotSeenStated]
    processes: Sequence[ProcessDocument]
    server_counters: Mapping[str, Mapping[str, float]]


class HostsDocument(TypedDict, total=False):
    """The hosts that issued the load, if other hosts did."""

    hosts: Sequence[HostStated]


class ReplicasDocument(TypedDict, total=False):
    """How far each replica was behind its primary, if the system has any."""

    replicas: Sequence[LagStated]


class TimelineDocument(TypedDict, total=False):
    """Every second of a trial, if the document includes them."""

    timeline: Sequence[SecondDocument]


class TrialDocument(
    AskedDocument,
    VariantDocument,
    PacedDocument,
    FiguresDocument,
    OpenLoopDocument,
    ConcludedDocument,
    RecordedDocument,
    SurroundingsDocument,
    HostsDocument,
    EventsDocument,
    ReplicasDocument,
    TimelineDocument,
):
    """One planned trial and what is known of it."""

    client_cpu_us_per_transaction: float | None
    server_cpu_us_per_transaction: float | None
    client_ceiling_per_s: float | None
    load_threads: Sequence[Mapping[str, float | None]]
    cost: CostDocument
