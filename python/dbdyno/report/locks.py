"""Which lock was waited for most: a row for each trial, so that settings can be held against each other."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.report import words
from dbdyno.report.loads import Document

STRESS = "db-stress"
"""The workload that asks for it, whatever was seen."""
WORTH_NAMING = 0.05
"""Of the clients: a lock for which fewer wait is not worth lines in every run's table."""
HEADINGS = ("system", "clients", "per s", "lock waited for most", "latch waited for most")
NOTE = (
    "Locks are of rows and tables, latches of the server's own memory; how many connections (threads) waited for it on "
    "average, and waits per second where they are counted. Not shown: the server does not tell, or not with these "
    "settings (docs/experiments/db-stress.md)."
)


def shown_trials(shown: Document) -> list[Document]:
    """Return the trials of a run in which a lock is worth naming, those without beside them; of `db-stress` always."""
    looked = [trial for trial in shown["trials"] if trial["locks"]["locks_seen"] or trial["locks"]["latches_seen"]]
    return looked if any(map(_worth_naming, looked)) else []


def _worth_naming(trial: Document) -> bool:
    many = any((one["waiting"] or 0.0) >= WORTH_NAMING * trial["clients"] for one in trial["locks"]["waited_for"])
    return many or str(trial["workload"]).startswith(STRESS)


def rows(trials: Sequence[Document]) -> list[list[str]]:
    """Return a row of `HEADINGS` for each trial; a workload is named where there are several."""
    several = len({trial["workload"] for trial in trials}) > 1
    return [
        [
            words.label_of(trial) + (f", {trial['workload']}" if several else ""),
            str(trial["clients"]),
            words.significant(trial["throughput_per_s"]),
            _most(trial, latch=False),
            _most(trial, latch=True),
        ]
        for trial in trials
    ]


def _most(trial: Document, latch: bool) -> str:
    found = [one for one in trial["locks"]["waited_for"] if one["latch"] == latch]
    if not found:
        return "none seen" if trial["locks"]["latches_seen" if latch else "locks_seen"] else "not shown"
    most = found[0]
    waiting = None if most["waiting"] is None else f"{words.significant(most['waiting'])} waiting"
    per_s = None if most["waits_per_s"] is None else f"{words.significant(most['waits_per_s'])} waits/s"
    return f"{most['name']}: {', '.join(filter(None, (waiting, per_s)))}"
