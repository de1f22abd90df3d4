"""The lag of replicas while a load ran on their primary, and how long they took to catch up after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.report.core.section import Part, Section

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.trial_documents import TrialDocument
    from dbdyno.results.json_types import LagStated

HEADINGS = ("system", "clients", "replica", "samples", "lag p50\nms", "p95\nms", "max\nms", "caught up\nafter ms")
LEFT = (0, 2)
"""The indices of the columns of words."""
NOTE = (
    "Lag: from the time at which the primary had committed up to a position until the replica had applied all of it. "
    "Caught up: from the end of the load until the replica had applied all of it."
)


def followed(document: RunDocument) -> list[TrialDocument]:
    """Return the trials of a run whose system has replicas."""
    return [trial for trial in document["trials"] if trial.get("replicas")]


def rows(trials: Sequence[TrialDocument]) -> list[list[str]]:
    """Return a row of `HEADINGS` for each replica of each trial."""
    return [_row(trial, lag) for trial in trials for lag in trial.get("replicas", ())]


def _row(trial: TrialDocument, lag: LagStated) -> list[str]:
    labels = (words.label_of(trial), str(trial["clients"]), lag["replica"], words.whole(lag["samples"]))
    lags = (_milliseconds(lag[key]) for key in ("p50_s", "p95_s", "max_s"))
    return [*labels, *lags, lag["problem"] or _milliseconds(lag["caught_up_s"])]


def _milliseconds(time_s: float | None) -> str:
    return words.significant(None if time_s is None else time_s * 1000)


def part(page: Page) -> Part | None:
    """Return the table of lags."""
    trials = followed(page.document)
    content = {"heading": "Lag of replicas", "note": NOTE, "headings": HEADINGS, "left": LEFT}
    return Part(content | {"rows": rows(trials)}) if trials else None


SECTION = Section("table.html.j2", part)
