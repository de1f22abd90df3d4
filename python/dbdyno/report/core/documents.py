"""A run as one document (`dbdyno.report.document`, written by `dbdyno show --json`): its keys, and what each holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from dbdyno.report.core.event_documents import EventSummariesDocument
from dbdyno.report.core.trial_documents import LabelledDocument, LoadDocument, TrialDocument

if TYPE_CHECKING:
    from dbdyno.results.environment import Environment
    from dbdyno.results.json_types import (
        LeftOutStated,
        LimitStated,
        SearchStated,
        SessionStated,
        SkippedStated,
    )
    from dbdyno.results.usable import Evenness


class SideDocument(TypedDict):
    """One side of a comparison's cell; `variant`: the options of the workload, if variants of it are compared."""

    run: str
    label: str
    variant: str | None
    durability: str
    throughput_per_s: float | None
    stability: Evenness


class RatioDocument(TypedDict):
    """The ratio of one system to another, with its interval; `None` if there is no pair."""

    ratio: float | None
    low: float | None
    high: float | None
    verdict: str
    pairs: int | None
    margin: float | None
    noise: float | None
    reason: str | None
    p_holm: float | None
    least: bool


class CellDocument(LoadDocument, RatioDocument):
    """Two systems compared at one load; the ratio is the candidate's over the baseline's."""

    rate: str | None
    baseline: SideDocument
    candidate: SideDocument
    p_value: float | None
    p_sign_flip: float | None
    noise_from: str | None
    left_out: Sequence[str]


class ComparisonDocument(TypedDict):
    """Two sides, or all pairs of a run's systems, compared cell by cell."""

    badges: Sequence[str]
    cautions: Sequence[str]
    missing: Sequence[str]
    cells: Sequence[CellDocument]
    sentence: str


class HeadlineDocument(TypedDict):
    """The headline of a run; trials, ratios and limits are by label."""

    sentence: str
    winner: str | None
    leader: str | None
    trials: Mapping[str, str]
    ratios: Mapping[str, RatioDocument]
    limits: Mapping[str, str]


class SystemCardDocument(TypedDict):
    """The fairness card of one system."""

    label: str
    badges: Sequence[str]
    card: Mapping[str, str]


class FairnessDocument(TypedDict):
    """The fairness cards of a run's systems."""

    command: str | None
    badge: str | None
    systems: Sequence[SystemCardDocument]
    not_seen: Sequence[str]
    short: Sequence[str]


class LibraryCostDocument(TypedDict):
    """A client library beside the native client, on the same load."""

    label: str
    client: str
    workload: str | None
    clients: int | None
    native_label: str
    repetitions: int
    throughput_ratio: float
    lowest: float
    highest: float
    throughput_per_s: float
    native_throughput_per_s: float
    client_cpu_ratio: float | None
    own_cpu_us_per_transaction: float | None


class ConnectionMemoryDocument(TypedDict):
    """The memory of a system's servers for one more idle connection, between the fewest and the most clients."""

    label: str
    fewest_clients: int
    most_clients: int
    bytes: int
    lowest: int
    highest: int
    repetitions: int


class SweptDocument(LabelledDocument):
    """The trials of a system at several numbers of clients."""

    workload: str
    trials: int


class ParametersDocument(TypedDict):
    """The parameters of a law; `None` for those it does not have."""

    rate_per_s: float
    contention: float | None
    coherency: float | None
    ceiling_per_s: float | None


class FitDocument(TypedDict, total=False):
    """The figures of a law that was fitted, with their intervals."""

    contention: Sequence[float] | None
    coherency: Sequence[float] | None
    peak_clients: float | None
    peak_interval: Sequence[float] | None
    ceiling: Sequence[float] | None
    parameters: ParametersDocument
    aicc: Mapping[str, float]


class SweepDocument(SweptDocument, FitDocument):
    """How a system scales with clients; a sweep that is too small has no law, and none of its figures."""

    law: str | None
    words: str


class LimitsDocument(TypedDict, total=False):
    """The outcome of an experiment's limits; without limits the key is absent."""

    limits: Sequence[LimitStated]


class SessionsDocument(TypedDict, total=False):
    """The sessions of a resumed run; another run has not this key."""

    sessions: Sequence[SessionStated]


class RunDocument(LimitsDocument, SessionsDocument, EventSummariesDocument):
    """One run."""

    run: str
    experiment: str | None
    question: str | None
    look_for: str | None
    command: str | None
    dbdyno: str | None
    state: str | None
    reason: str | None
    started_unix_s: float | None
    ended_unix_s: float | None
    headline: HeadlineDocument
    comparison: ComparisonDocument | None
    option_comparison: ComparisonDocument | None
    fairness: FairnessDocument
    skipped: Sequence[SkippedStated]
    left_out: Sequence[LeftOutStated]
    find_rate: Sequence[SearchStated]
    environment: Environment
    trials: Sequence[TrialDocument]
    client_libraries: Sequence[LibraryCostDocument]
    connection_memory: Sequence[ConnectionMemoryDocument]
    scalability: Sequence[SweepDocument]
