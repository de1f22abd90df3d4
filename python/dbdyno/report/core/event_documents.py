"""The keys of events in the document of a run, and what each holds (see `dbdyno.report.core.documents`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

EventFigures = Literal[
    "duration_s",
    "before_per_s",
    "during_change",
    "after_change",
    "before_p99_ms",
    "during_p99_ms",
    "after_p99_ms",
    "without_service_s",
    "recovered_s",
]


class EventDocument(TypedDict):
    """An event of a trial and its cost; a figure is `None` if there is no second to take it from."""

    name: str
    at: int
    way: str
    text: str
    state: str
    reason: str | None
    exit_status: int | None
    output: Sequence[str]
    begin_s: float | None
    end_s: float | None
    duration_s: float | None
    before_per_s: float | None
    during_per_s: float | None
    during_change: float | None
    after_per_s: float | None
    after_change: float | None
    before_p99_ms: float | None
    during_p99_ms: float | None
    after_p99_ms: float | None
    worst_p99_ms: float | None
    recovered_s: float | None
    without_service_s: float | None


class EventsDocument(TypedDict, total=False):
    """The events of a trial, if it has any."""

    events: Sequence[EventDocument]


class SpreadDocument(TypedDict):
    """The mean of a figure over repetitions, and its 95 % interval; `None` for fewer than two."""

    mean: float
    low: float | None
    high: float | None
    repetitions: int


class EventSummary(TypedDict):
    """An event at a load, over the repetitions. usable: trials that count, because trial and event went well."""

    label: str
    load: str
    name: str
    at: int
    trials: int
    usable: int
    state: str
    figures: Mapping[EventFigures, SpreadDocument | None]


class EventSummariesDocument(TypedDict, total=False):
    """The events of a run, if it has any."""

    events: Sequence[EventSummary]
