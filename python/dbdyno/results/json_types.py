"""Objects of `run.json`, `trial.json` and `preparation.json` (docs/run-folder.md): their keys, for the type checker.

They are written from these types and read into them. A key that only some runs have is not required.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class BuildStated(TypedDict):
    """The build of a server that was started from a path."""

    setting: str
    path: str
    version: str | None
    says: str
    sha256: str
    build_id: str | None


class ConfigStated(TypedDict):
    """The user's configuration file that a server was given."""

    path: str
    sha256: str
    settings: Mapping[str, str]


class OriginStated(TypedDict, total=False):
    """The build and the configuration file that a server was started from, if a path named them."""

    build: BuildStated | None
    config: ConfigStated | None


class ServerStated(OriginStated):
    """One server of a store, or an embedded store's library; a system states the first four keys."""

    name: str
    version: str | None
    effective_settings: dict[str, str]
    not_readable: NotRequired[Sequence[str]]
    started_with: NotRequired[Sequence[str] | None]


DurabilityStated = TypedDict("DurabilityStated", {"class": str, "reason": str | None})
"""The crashes that an acknowledged write survives; written as a call, because a key is a keyword of Python."""


class RateStated(TypedDict, total=False):
    """The rate of an open loop, as the experiment asks for it."""

    words: str
    arrivals: str
    per_s: float | None
    ramp: Sequence[float]
    steps: Sequence[float]
    seconds: int | None
    share: float
    capacity_per_s: float | None
    capacity_of: str | None


class ProfiledStated(TypedDict):
    """The seconds in which stacks were recorded, and why then."""

    seconds: Sequence[int]
    reason: str | None


class PaceStated(TypedDict):
    """How clients pause between transactions, in words, and how many transactions a connection serves (0: all)."""

    think_time: str | None
    transactions_per_connection: int


class GroupStated(PaceStated):
    """A group of clients, as the experiment asks for it. start_s: when it begins. transactions: their weights."""

    name: str
    clients: int
    start_s: int
    rate: RateStated | None
    transactions: Mapping[str, int] | None
    access: object


class GroupDone(GroupStated):
    """The load of a group and its figures, as a report has them; a closed loop has no rate to follow."""

    throughput_per_s: float | None
    offered_per_s: float | None
    never_begun: int
    followed: bool | None
    errors: int


class LoadedStated(TypedDict):
    """The bulk load of a table: `by` which statement, from which `source`."""

    rows: int
    seconds: float
    rows_per_s: float
    by: str
    size_bytes: int
    source: NotRequired[str]


HOT_RUNS = 3
"""How often each query of an analysis is asked again right after it was asked cold."""


class QueryStated(TypedDict):
    """A query: its times cold and hot; `columns` of a scan; `differs` from another store's answer.

    cold_unix_s, hot_unix_s: when it began to be asked so and when that ended; runs of earlier versions do not say.
    """

    name: str
    what: NotRequired[str]
    sql: NotRequired[str]
    columns: NotRequired[int | None]
    cold_s: float
    hot_s: Sequence[float]
    cold_unix_s: NotRequired[Sequence[float]]
    hot_unix_s: NotRequired[Sequence[float]]
    answer: NotRequired[list[list[int | float | str | None]]]
    differs: str | None


class UnansweredStated(TypedDict):
    """A query that a store failed, or did not answer in time; `reason` is in its words."""

    name: str
    what: NotRequired[str]
    sql: NotRequired[str]
    reason: str


class AnalysisStated(TypedDict):
    """The queries of an analytic workload, what cold means, and how many `streams` asked the hot ones.

    Runs of earlier versions have neither `unanswered` nor `streams`.
    """

    cold: str
    streams: NotRequired[int]
    queries: Sequence[QueryStated]
    unanswered: NotRequired[Sequence[UnansweredStated]]


class DifferingRowStated(TypedDict):
    """A row whose versions differ on both sides; `None`: no such row."""

    table: str
    key: int
    store: int | None
    other: int | None


class DifferencesStated(TypedDict, total=False):
    """How many writes of a row only one of both sides has, in how many rows, and the first of these rows."""

    store_only: int
    other_only: int
    rows: int
    first: Sequence[DifferingRowStated]


class ComparisonStated(DifferencesStated):
    """A store after its crash, held against what should have the same rows; if `unable` says why not, without figures.

    alone_missing: acknowledged writes that this one would have lacked as a replacement of the store.
    """

    name: str
    promised: NotRequired[bool]
    reason: NotRequired[str]
    unable: str | None
    odd: NotRequired[str | None]
    alone_missing: NotRequired[int | None]


class AgreementStated(ComparisonStated):
    """The same, and whether a promise of agreement was kept."""

    verdict: str
    sentence: str


class RepairedStated(TypedDict):
    """The command that a store needed before it started again, and the reason it gave."""

    command: str
    reason: str


class ReadBackStated(TypedDict):
    """The acknowledged writes that a store still had after it was killed; older runs say nothing of a repair."""

    acknowledged: int
    damaged: NotRequired[int]
    gone: NotRequired[int]
    half_applied: int
    lost_back_is_least: bool
    lost_back_s: float | None
    missing: int
    unacknowledged: int
    ready_s: float | None
    first_read_s: float | None
    repaired: NotRequired[RepairedStated | None]


class CrashStated(ReadBackStated):
    """A crash, and the contents of the store after it; runs of earlier versions have no `agreement`."""

    kind: str
    writes: str
    at_unix_s: NotRequired[float]
    agreement: NotRequired[Sequence[AgreementStated] | None]
    verdict: str
    sentence: str


class CopyStepStated(TypedDict):
    """A dump or a restore."""

    seconds: float
    rows_per_s: float
    bytes_per_s: float
    tool_cpu_s: float | None
    server_cpu_s: float | None


class CopiedTableStated(TypedDict):
    """A table that was copied; times and size are `None` if the tool is not called for each table."""

    table: str
    rows: int
    dump_bytes: int | None
    dump_s: float | None
    restore_s: float | None
    differs: Sequence[str] | None


class CopyStated(TypedDict):
    """A copy by a database's own tool; a step that was not run is `None`."""

    tool: str
    programs: NotRequired[Sequence[str]]
    workers: int
    rows: NotRequired[int]
    dump_bytes: NotRequired[int]
    dump: CopyStepStated | None
    restore: CopyStepStated | None
    tables: NotRequired[Sequence[CopiedTableStated]]
    compared_s: NotRequired[float | None]
    identical: bool | None


class EventWorkStated(TypedDict, total=False):
    """The work of an event, by one of the ways there are."""

    sql: str
    command: str
    action: str


class EventStated(EventWorkStated):
    """An event beside the load; `state` is `ok`, `failed`, `cut` (it ended with the trial) or `not begun`."""

    name: str
    at: int
    if_fails: str
    state: str
    reason: str | None
    began_unix_s: float | None
    ended_unix_s: float | None
    exit_status: int | None
    output: Sequence[str]


class LagStated(TypedDict):
    """How far a replica was behind its primary while the load was measured, and how long it took to catch up after it.

    samples: how often it was looked at. The times are `None` if it never was; `problem` says why it did not answer or
    catch up.
    """

    replica: str
    samples: int
    p50_s: float | None
    p95_s: float | None
    max_s: float | None
    caught_up_s: float | None
    problem: str | None


class CountersStated(TypedDict, total=False):
    """A server's own counters right before the load client ran, and right after."""

    before: Mapping[str, int]
    after: Mapping[str, int]


class NotSeenStated(TypedDict):
    """A band that could not be observed, and why."""

    band: str
    reason: str


class UsageStated(TypedDict):
    """The resources that a process used while it was measured."""

    process: str
    cores: float | None
    resident_bytes: int
    private_bytes: NotRequired[int | None]


class SliceStated(TypedDict):
    """The clients of a trial that a host ran."""

    first: int
    count: int


class ClockStated(TypedDict):
    """How far a host's clock was ahead of the conductor's, and how exactly that is known."""

    offset_s: float
    error_s: float


class KnownHostStated(TypedDict):
    """Another host of a trial, and its clock; runs of earlier versions have clients alone, and say no `role`.

    machine: the same for hosts that share a kernel, and so its processors. servers: which a server host ran.
    """

    name: str
    role: NotRequired[str]
    hostname: str
    address: str
    processors: int
    machine: NotRequired[str]
    servers: NotRequired[Sequence[str]]
    clock_before: ClockStated | None
    clock_after: ClockStated | None
    drift_s: float | None


class CapacityStated(TypedDict):
    """The bytes per second that a link carried before the load, as its host sends and receives."""

    sends_bytes_per_s: float | None
    receives_bytes_per_s: float | None


class HostStated(KnownHostStated):
    """The same; `problem` says what went wrong there, `link` what its link carried."""

    link: NotRequired[CapacityStated]
    problem: str | None


class PathStated(TypedDict):
    """The way from a client host to a server host: typical round trips before the load and during it."""

    server: str
    idle_round_trip_us: float | None
    round_trip_us: float | None
    capacity: NotRequired[CapacityStated]


class NetworkStated(TypedDict):
    """The network of a client host: means over its `paths`, and what it sent and received in all."""

    idle_round_trip_us: float | None
    round_trip_us: float | None
    retransmits: float
    sent_bytes_per_s: float | None
    received_bytes_per_s: float | None
    paths: NotRequired[Sequence[PathStated]]


class ClientHostStated(HostStated):
    """The same with its part of the load, how many load threads issued that, and what they completed."""

    clients: SliceStated
    load_threads: NotRequired[int | None]
    transactions_per_s: NotRequired[float | None]
    start_skew_s: float | None
    network: NetworkStated | None
    lost: bool


class SystemStated(TypedDict):
    """A started and loaded system.

    levers: a setting of the system, with a value, for each limit that it would move. background_threads: what the
    threads of a name do. answered_unix_s: when it first answered, in seconds since the epoch.
    """

    servers: Sequence[ServerStated]
    embedded: bool
    server_cpus: Sequence[int] | None
    memory_limit_bytes: int | None
    durability: DurabilityStated
    levers: Mapping[str, str]
    background_threads: Mapping[str, str]
    data: str
    cache_state: str | None
    answered_unix_s: float


class SkippedStated(TypedDict):
    """A system that was left out of a run, and why."""

    system: str
    reason: str


class LeftOutStated(TypedDict):
    """A sweep that ended early, with the clients that were not run; without any, it was not flat at its end."""

    system: str
    workload: str
    pipeline: int
    network_delay_us: int
    clients: Sequence[int]
    reason: str


class StepStated(TypedDict):
    """A step of a rate search.

    value_us: of the limit's statistic, or of the maximum if too few transactions tell (`statistic` says which).
    why_not: what kept the rate from holding.
    """

    trial: str
    rate_per_s: float
    statistic: str
    value_us: float | None
    offered_per_s: float
    achieved_per_s: float
    confirms: bool
    why_not: str | None
    holds: bool


class SearchStated(TypedDict):
    """A rate search that ended; without an answer the last keys are `None`."""

    system: str
    workload: str
    clients: int
    repeat: int
    limit: str
    first: str
    steps: Sequence[StepStated]
    found_rate_per_s: float | None
    fails_per_s: float | None
    open_above: bool | None
    sentence: str


class LimitFigureStated(TypedDict):
    """The figure of a trial that a limit is on, and whether the limit holds."""

    figure: str
    value: float | None
    unit: str
    holds: bool


class LimitStated(LimitFigureStated):
    """One of the experiment's limits in one trial."""

    trial: str
    limit: str


class SessionStated(TypedDict):
    """A session of a resumed run; the running one has no end yet."""

    started_unix_s: float | None
    command: str | None
    warnings: NotRequired[Sequence[str]]
    ended_unix_s: NotRequired[float]
    state: NotRequired[str | None]
    reason: NotRequired[str | None]
    records: NotRequired[str]
