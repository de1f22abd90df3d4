"""Reads at another node than the write's: how often they were stale, and how long until the write was visible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.report.core.section import Part, Section

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.trial_documents import OperationDocument, TrialDocument

_ELSEWHERE, _PART = "get-elsewhere", "transaction"
HEADINGS = (
    *("system", "clients", "writes\nread elsewhere", "first read\nstale", "stale reads\nin all"),
    *("until seen\np50 ms", "p99 ms", "max ms"),
)
NOTE = (
    "Each write was read at another node at once, and again for as long as that read was stale. Until seen: from the "
    "write's acknowledgement to the end of the first read that had it, which is at least one read."
)


def replicated(document: RunDocument) -> list[TrialDocument]:
    """Return the trials of a run that read their writes at another node, if they reached a read."""
    return [trial for trial in document["trials"] if any(operation["count"] for operation in _reads(trial))]


def _reads(trial: TrialDocument) -> list[OperationDocument]:
    """Return the first read after each write, then the second ones, which follow a stale first one, then all others."""
    return [operation for operation in trial["operations"].values() if operation["operation"] == _ELSEWHERE]


def rows(trials: Sequence[TrialDocument]) -> list[list[str]]:
    """Return a row of `HEADINGS` for each trial.

    A read is repeated because the one before it was stale, so stale reads are as many as repetitions.
    """
    return [_row(trial) for trial in trials]


def _row(trial: TrialDocument) -> list[str]:
    first, *repeated = (operation["count"] for operation in _reads(trial))
    seen = next(
        operation["service_time_us"] for operation in trial["operations"].values() if operation["operation"] == _PART
    )
    return [
        *(words.label_of(trial), str(trial["clients"]), words.whole(first)),
        words.percent(repeated[0] / first, 1),
        words.whole(sum(repeated)),
        *(words.significant(None if (us := seen[key]) is None else us / 1000) for key in ("p50", "p99", "max")),
    ]


def part(page: Page) -> Part | None:
    """Return the table of what was read at another node."""
    trials = replicated(page.document)
    content = {"heading": "Seen at another node", "note": NOTE, "headings": HEADINGS, "left": (0,)}
    return Part(content | {"rows": rows(trials)}) if trials else None


SECTION = Section("table.html.j2", part)
