"""Objects of `trial.json` that are handed on as they are (docs/run-folder.md): their keys, for the type checker.

A key that a reader does not need is not listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict


class RateStated(TypedDict, total=False):
    """The rate of an open loop, as the experiment asks for it."""

    words: str
    arrivals: str
    per_s: float | None
    ramp: Sequence[float]
    steps: Sequence[float]
    share: float


class ProfiledStated(TypedDict):
    """The seconds in which stacks were recorded, and why then."""

    seconds: Sequence[int]
    reason: str | None


class LoadedStated(TypedDict):
    """How a table was loaded in bulk."""

    rows: int
    seconds: float
    rows_per_s: float
    size_bytes: int
    by: str


class QueryStated(TypedDict):
    """A query: its times cold and hot; `columns` of a scan; `differs` from another store's answer."""

    name: str
    columns: NotRequired[int | None]
    cold_s: float
    hot_s: Sequence[float]
    differs: str | None


class UnansweredStated(TypedDict):
    """A query that a store failed, or did not answer in time."""

    name: str
    reason: str


class AnalysisStated(TypedDict):
    """The queries of an analytic workload, and what cold means; runs of earlier versions have no `unanswered`."""

    cold: str
    queries: Sequence[QueryStated]
    unanswered: NotRequired[Sequence[UnansweredStated]]


class AgreementStated(TypedDict):
    """A store after its crash, held against what should have the same rows; if `unable` says why not, without figures.

    alone_missing: acknowledged writes that this one would have lacked in the place of the store.
    """

    name: str
    unable: str | None
    store_only: NotRequired[int]
    other_only: NotRequired[int]
    rows: NotRequired[int]
    alone_missing: NotRequired[int | None]
    verdict: str
    sentence: str


class CrashStated(TypedDict):
    """The contents of a store after it was killed; runs of earlier versions have no `agreement`."""

    kind: str
    writes: str
    acknowledged: int
    missing: int
    lost_back_s: float | None
    lost_back_is_least: bool
    half_applied: int
    unacknowledged: int
    ready_s: float | None
    first_read_s: float | None
    verdict: str
    sentence: str
    agreement: NotRequired[Sequence[AgreementStated] | None]


class CopyStepStated(TypedDict):
    """A dump or a restore."""

    seconds: float
    rows_per_s: float
    bytes_per_s: float
    tool_cpu_s: float | None
    server_cpu_s: float | None


class CopyStated(TypedDict):
    """A copy by a database's own tool; a step that was not run is `None`."""

    tool: str
    workers: int
    identical: bool | None
    dump: CopyStepStated | None
    restore: CopyStepStated | None


class EventStated(TypedDict):
    """An event beside the load; `state` is `ok`, `failed`, `cut` (it ended with the trial) or `not begun`."""

    name: str
    at: int
    sql: NotRequired[str]
    command: NotRequired[str]
    action: NotRequired[str]
    if_fails: str
    state: str
    reason: str | None
    began_unix_s: float | None
    ended_unix_s: float | None
    exit_status: int | None
    output: Sequence[str]
