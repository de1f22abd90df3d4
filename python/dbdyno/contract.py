"""The contract with load clients as types: the plan, and a record of each kind (docs/contract.md).

They describe JSON. Only records of a load client of the user's own are checked by them (conduct/own_client.py).
A test holds them equal to docs/contract.schema.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, cast

# pydantic, by which records of other programs are checked, reads the standard library's only from Python 3.12 on.
from typing_extensions import TypedDict

CONTRACT: Literal[1] = 1

JsonObject: TypeAlias = Mapping[str, Any]
"""An object of JSON before its keys are checked, or one whose keys are settings in the words of a store."""

StoreDocument: TypeAlias = Mapping[str, Any]
"""The store of a plan. Its system makes it and its load client reads it; the schema has the keys of each kind."""

Phase = Literal["prepare", "load", "run", "verify", "cleanup", "list"]
ErrorKind = Literal["connect", "connection", "timeout", "server", "protocol", "missing", "mismatch", "full", "conflict"]
Library = Literal[
    "pymysql", "mysqlclient", "psycopg", "redis-py", "pymemcache", "pymongo", "cassandra-driver", "sysbench"
]
CacheLibrary = Literal["redis-py", "pymemcache"]
EndStatus = Literal["complete", "interrupted", "failed", "refused"]
Engine = Literal["epoll", "io_uring"]


class WorkloadDocument(TypedDict):
    """A workload as a load client knows it."""

    name: str
    rows: int
    options: JsonObject


class PlannedClients(TypedDict):
    """The clients of a trial that a load client runs: `count` of them, from `first` on."""

    first: int
    count: int
    of: int


class SegmentDocument(TypedDict):
    """A part of an open loop; its rate changes evenly."""

    seconds: float
    from_per_s: float
    to_per_s: float


class ArrivalsDocument(TypedDict):
    """An open loop."""

    kind: Literal["constant", "poisson"]
    segments: Sequence[SegmentDocument]


class ThinkTimeDocument(TypedDict):
    """How long a client pauses between two transactions of a closed loop."""

    kind: Literal["constant", "exponential"]
    mean_us: int


class GroupDocument(TypedDict):
    """Clients of a trial that do the same; `options` replace the workload's."""

    name: str
    count: int
    options: JsonObject
    start_s: int
    arrivals: ArrivalsDocument | None
    think_time: ThinkTimeDocument | None
    transactions_per_connection: int


class ChangesDocument(TypedDict):
    """How load clients changed the sums of a workload's columns; `before`: the sums before the run."""

    before: Sequence[int | None]
    added: int
    maybe_added: int
    maybe_subtracted: int
    inserted: int
    maybe_inserted: int
    deleted: int
    maybe_deleted: int


class PlanDocument(TypedDict):
    """The first line of a load client's stdin."""

    contract: Literal[1]
    phases: Sequence[Phase]
    store: StoreDocument
    workload: WorkloadDocument | None
    seed: int
    clients: PlannedClients
    start_at_unix_s: float | None
    warmup_s: int
    duration_s: int
    operation_timeout_s: int
    threads: int | None
    cpus: Sequence[int] | None
    verify_reads: bool
    arrivals: ArrivalsDocument | None
    pipeline: int
    network_delay_us: int
    run_id: str
    library: NotRequired[Library]
    cache_library: NotRequired[CacheLibrary]
    c_library: NotRequired[str]
    engine: NotRequired[Engine | None]
    acknowledged: NotRequired[str | None]
    think_time: NotRequired[ThinkTimeDocument | None]
    transactions_per_connection: NotRequired[int]
    groups: NotRequired[Sequence[GroupDocument]]
    changes: NotRequired[ChangesDocument]
    source_addresses: NotRequired[Sequence[str]]
    query_plans: NotRequired[bool]


class HistogramRecord(TypedDict):
    """Times in buckets: the index of a bucket, its count, the next index, and so on."""

    count: int
    sum_ns: int
    min_ns: int
    max_ns: int
    buckets: Sequence[int]


class CountedRecord(TypedDict):
    """Transactions, or one operation, of a second."""

    completed: int
    failed: int
    service_time: NotRequired[HistogramRecord]
    response_time: NotRequired[HistogramRecord]
    send_lag: NotRequired[HistogramRecord]
    scheduled: NotRequired[int]
    conflicts: NotRequired[int]


class TotalCountedRecord(TypedDict):
    """One operation of a whole run, or the transactions of a group of clients."""

    completed: int
    failed: int
    conflicts: NotRequired[int]
    scheduled: NotRequired[int]
    never_begun: NotRequired[int]
    late: NotRequired[int]
    service_time: NotRequired[HistogramRecord]


class TotalTransactionsRecord(TypedDict):
    """The transactions of a whole run."""

    scheduled: int
    completed: int
    failed: int
    unfinished: int
    unanswered: NotRequired[int]
    never_begun: NotRequired[int]
    late: NotRequired[int]
    conflicts: NotRequired[int]
    service_time: NotRequired[HistogramRecord]


class MovedKeysRecord(TypedDict):
    """Keys of a pool that belong to another node after its nodes changed; `due`: how many should."""

    asked: int
    moved: int
    due: float


class NamedOperation(TypedDict):
    """An operation of a transaction."""

    name: str
    operation: str
    table: str | None


class LibraryRecord(TypedDict):
    """An embedded store's library in its own words."""

    version: str | None
    settings: Mapping[str, str]
    not_readable: NotRequired[Sequence[str]]


class NotGivenRecord(TypedDict):
    """A gap in a load client's figures: `brief` for a table, `text` as a sentence."""

    brief: str
    text: str


class LoadThreadsRecord(TypedDict):
    """Processor seconds of each load thread in a second, and how long it was ready and waited for a processor."""

    cpu_s: Sequence[float]
    run_queue_s: NotRequired[Sequence[float]]


class HelloRecord(TypedDict):
    """The load client that records."""

    record: Literal["hello"]
    contract: Literal[1]
    program: str
    version: str
    profile: Literal["release", "debug"]
    pid: int
    transaction: str | None
    operations: Sequence[NamedOperation]
    threads: int
    processors: NotRequired[int]
    engine: NotRequired[Engine | None]
    layout: NotRequired[str | None]
    store: NotRequired[LibraryRecord | None]
    processes: NotRequired[int]
    library: NotRequired[str | None]
    own_cpu_us_per_transaction: NotRequired[float | None]
    not_given: NotRequired[NotGivenRecord]


class PhaseRecord(TypedDict):
    """A phase begins, starts its first second, or ends."""

    record: Literal["phase"]
    phase: Phase
    state: Literal["begin", "start", "end"]
    at_unix_s: NotRequired[float]
    seconds: NotRequired[float]
    rows: NotRequired[int]
    found: NotRequired[int]
    rows_per_s: NotRequired[float | None]
    by: NotRequired[str | None]
    index_s: NotRequired[float | None]
    sessions: NotRequired[int]
    reconnected: NotRequired[int]
    removed: NotRequired[Sequence[str]]
    leftovers: NotRequired[Sequence[str]]
    left: NotRequired[Sequence[str]]
    cannot_know: NotRequired[str | None]
    size_bytes: NotRequired[int | None]
    source: NotRequired[str]


class ProgressRecord(TypedDict):
    """How far a load client is."""

    record: Literal["progress"]
    phase: Literal["connect", "load", "index"]
    done: int
    total: int
    unit: str
    rows_per_s: NotRequired[float | None]
    left_s: NotRequired[float | None]


class IntervalRecord(TypedDict):
    """One second of the run."""

    record: Literal["interval"]
    second: int
    warmup: bool
    seconds: float
    connected: int
    transactions: CountedRecord
    operations: Mapping[str, CountedRecord]
    errors: Mapping[ErrorKind, int]
    reads_verified: int
    mismatches: int
    client_cpu_s: float
    load_threads: NotRequired[LoadThreadsRecord]
    gaps_ns: NotRequired[Sequence[Sequence[int]]]
    counters: NotRequired[Mapping[str, int]]


class ErrorRecord(TypedDict):
    """One of the first errors of a kind."""

    record: Literal["error"]
    kind: ErrorKind
    operation: str | None
    client: int | None
    at_s: float
    message: str


class MismatchRecord(TypedDict):
    """One of the first reads that returned another value than was written."""

    record: Literal["mismatch"]
    operation: str
    key: int | str | None
    column: int | str | None
    expected: object
    found: object
    at_s: float


class TotalRecord(TypedDict):
    """The sums of a whole run, counted apart from its seconds."""

    record: Literal["total"]
    transactions: TotalTransactionsRecord
    operations: Mapping[str, TotalCountedRecord]
    reads_verified: int
    mismatches: int
    seconds: float
    in_flight_mean: float | None
    begun_late_s: NotRequired[float]
    moved_keys: NotRequired[MovedKeysRecord]


class ChangesRecord(ChangesDocument):
    """Changes by a load client that do not verify by themselves."""

    record: Literal["changes"]


class CheckRecord(TypedDict):
    """Something that must hold of what the store has; `ok` is `None` if the store cannot tell."""

    record: Literal["check"]
    name: str
    expected: object
    found: object
    ok: bool | None
    note: str | None


class ReadBackRecord(TypedDict):
    """The acknowledged writes that a store still has after it was killed."""

    record: Literal["read_back"]
    acknowledged: int
    missing: int
    half_applied: int
    unacknowledged: int
    gone: int
    damaged: int
    lost_back_s: float | None
    lost_back_is_least: bool
    first_read_unix_s: float


class QueryRecord(TypedDict):
    """A query of an analytic workload: its times cold and hot, when it was asked so, and its answer."""

    record: Literal["query"]
    name: str
    what: str
    sql: str
    columns: int | None
    cold_s: float
    hot_s: Sequence[float]
    cold_unix_s: NotRequired[Sequence[float]]
    hot_unix_s: NotRequired[Sequence[float]]
    answer: Sequence[Sequence[object]]
    differs: str | None


class QueryPlanRecord(TypedDict):
    """How the store executes the statement of an operation, a line each step of the plan."""

    record: Literal["query_plan"]
    when: Literal["before", "after"]
    operation: str
    sql: str
    steps: Sequence[str]


class EndRecord(TypedDict):
    """How a load client ended."""

    record: Literal["end"]
    status: EndStatus
    reason: str | None


Record: TypeAlias = (
    HelloRecord
    | PhaseRecord
    | ProgressRecord
    | IntervalRecord
    | ErrorRecord
    | MismatchRecord
    | TotalRecord
    | ChangesRecord
    | CheckRecord
    | ReadBackRecord
    | QueryRecord
    | QueryPlanRecord
    | EndRecord
)


def as_record(value: JsonObject) -> Record:
    """Return an object of JSON as a record. A reader of a record of another kind or shape meets a KeyError."""
    return cast(Record, value)
