"""The lock with the most waits: rows for each trial, so that settings can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.report.core.named_workload import named_workload
from dbdyno.report.core.section import Part, Section

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.trial_documents import TrialDocument

STRESS = "db-stress"
"""The workload whose runs always have the table."""
WORTH_NAMING = 0.05
"""A lock that a smaller share of the clients waits for is not worth lines in every run's table."""
HEADINGS = ("system", "clients", "per s", "", "waiting", "waits/s", "waited for most")
LEFT = (0, 3, 6)
"""The indices of the columns of words."""
NOTE = (
    "Locks protect rows and tables, latches the server's own memory. Waiting: how many connections (threads) waited "
    "for it on average; waits per second if the server counts them. Not shown: the server does not report it, or not "
    "with these settings (docs/experiments/db-stress.md)."
)


def shown_trials(document: RunDocument) -> list[TrialDocument]:
    """Return the trials of a run if one of them has a lock worth naming; those of `db-stress` always."""
    looked = [trial for trial in document["trials"] if trial["locks"].locks_seen or trial["locks"].latches_seen]
    return looked if any(map(_worth_naming, looked)) else []


def _worth_naming(trial: TrialDocument) -> bool:
    many = any((lock.waiting or 0.0) >= WORTH_NAMING * (trial["clients"] or 0) for lock in trial["locks"].waited_for)
    return many or named_workload(trial["workload"]).name == STRESS


def rows(trials: Sequence[TrialDocument]) -> list[list[str]]:
    """Return two rows of `HEADINGS` for each trial, its lock and its latch; the workload is named if there are several.

    The first row has clients and throughput.
    """
    several = len({trial["workload"] for trial in trials}) > 1
    lines = []
    for trial in trials:
        label = words.label_of(trial) + (f", {trial['workload']}" if several else "")
        load = [str(trial["clients"]), words.significant(trial["throughput_per_s"])]
        lines += [[label, *load, *_most(trial, latch=False)], [label, "", "", *_most(trial, latch=True)]]
    return lines


def _most(trial: TrialDocument, latch: bool) -> list[str]:
    kind = "latch" if latch else "lock"
    waited = [lock for lock in trial["locks"].waited_for if lock.latch == latch]
    if not waited:
        seen = trial["locks"].latches_seen if latch else trial["locks"].locks_seen
        return [kind, words.UNKNOWN, words.UNKNOWN, "none seen" if seen else "not shown"]
    most = waited[0]
    return [kind, words.significant(most.waiting), words.significant(most.waits_per_s), most.name]


def part(page: Page) -> Part | None:
    """Return the table of locks; a system's name stands in the first of its rows."""
    trials = shown_trials(page.document)
    named = [[*(row[:1] if row[1] else [""]), *row[1:]] for row in rows(trials)]
    content = {"heading": "Locks waited for", "note": NOTE, "headings": HEADINGS, "left": LEFT, "rows": named}
    return Part(content) if trials and page.series else None


SECTION = Section("table.html.j2", part)
