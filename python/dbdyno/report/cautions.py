"""Cautions about a run's figures, the most serious first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.report.core.names import listed
from dbdyno.report.core.steadiness import remarks
from dbdyno.report.sections import events
from dbdyno.report.sections.hosts import worsened

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.trial_documents import TrialDocument

BAD, WARNING = "red", "yellow"
_BADGES = {"flush in doubt": "Flushes may not reach the disk", "answers not checked": "Answers were not checked"}
_SAID_BY_MARKS = ("limited by the client", "could not follow")
"""Warnings that begin like this are left out: marks in the table say the same."""
BUSY_SHARE, FULL_SHARE = 0.1, 0.5
"""Other processes are named if they used more than the first share of the host's processors. From the second on, they
come before stalls, which they explain."""


def cautions(document: RunDocument) -> list[tuple[str, str]]:
    """Return the sentences, each with the style it is printed in."""
    return [*_failures(document), *_badges(document), *_doubts(document)]


def _failures(document: RunDocument) -> Iterator[tuple[str, str]]:
    state = words.run_state(document)
    if state:
        yield state, BAD
    trials = {words.trial_name(trial) for trial in document["trials"]}
    for name, what in words.not_complete(document):
        # The state of a run names the first trial that failed.
        if name not in trials or not state:
            yield f"{name} was {what}" if what.startswith("skipped") else f"{name}: {what}", WARNING
    wrong = sum(trial["mismatches"] for trial in document["trials"])
    if wrong:
        yield "1 answer was wrong." if wrong == 1 else f"{wrong:,} answers were wrong.", BAD
    for sentence in events.failures(document["trials"]):
        yield f"{sentence}.", WARNING
    # Operations must fail when the store is killed.
    failing = [
        trial
        for trial in document["trials"]
        if trial["errors"] and not trial["mismatches"] and not trial.get("crash") and not events.has_outage(trial)
    ]
    if failing:
        most = max(failing, key=lambda trial: trial["errors"])
        kinds = ", ".join(most["errors_by_kind"])
        of = f"; most: {words.trial_name(most)}, {most['errors']:,} ({kinds})" if len(failing) > 1 else f" ({kinds})"
        which = words.trial_name(most) if len(failing) == 1 else f"{len(failing)} trials"
        yield f"{which}: {sum(trial['errors'] for trial in failing):,} operations failed{of}.", BAD


def _badges(document: RunDocument) -> Iterator[tuple[str, str]]:
    """Yield each badge of the fairness cards, with its systems."""
    by_badge: dict[str, list[str]] = {}
    for system in document["fairness"]["systems"]:
        for badge in system["badges"]:
            by_badge.setdefault(badge, []).append(system["label"])
    for badge, labels in by_badge.items():
        everybody = len(labels) == len(document["fairness"]["systems"]) and len(labels) > 1
        yield f"{_BADGES.get(badge, badge.capitalize())}: {'every system' if everybody else listed(labels)}.", WARNING


def _resumed(document: RunDocument) -> Iterator[tuple[str, str]]:
    """Yield what differed when a run was resumed."""
    for session in document.get("sessions", ()):
        for warning in session.get("warnings", ()):
            yield f"When the run was resumed, {warning}.", WARNING
    measured = document["environment"].get("measured")
    for later in document["environment"].get("resumed", ()):
        for line in worsened(measured, later.get("measured")):
            yield f"The host was slower when the run was resumed: {line}.", WARNING


def _doubts(document: RunDocument) -> Iterator[tuple[str, str]]:
    trials = [trial for trial in document["trials"] if trial["system"] is not None]
    searched = bool(document["find_rate"])
    if any(trial["client_limited"] for trial in trials) and not searched:
        yield "≥: the client limited this trial, so the store may do more.", WARNING
    if any(trial.get("followed") is False for trial in trials) and not searched:
        yield "behind: the store could not follow the rate, so its times only grow.", WARNING
    before, after_stalls = _others(document, trials)
    yield from before
    # Clients that hold idle connections complete nothing for seconds, as they should.
    idle = bool(document["connection_memory"])
    if not idle and any(words.stalled(trial["stability"]) for trial in trials):
        yield words.worst_stall(trials) or "", WARNING
    yield from _resumed(document)
    measured, after = document["environment"].get("measured"), document["environment"].get("measured_after")
    if worse := list(worsened(measured, after)):
        more = f", and {len(worse) - 1} more" if worse[1:] else ""
        yield f"The host was slower after the run: {worse[0]}{more}.", WARNING
    yield from after_stalls
    if not idle and not any(trial.get(key) for trial in trials for key in ("analysis", "crash", "copy")):
        for remark in reversed(list(remarks(trials))):
            yield remark, WARNING
    for name, warning in words.warnings_by_text(document):
        if not warning.startswith(_SAID_BY_MARKS):
            yield f"{name}: {warning}", WARNING


def _others(document: RunDocument, trials: Sequence[TrialDocument]) -> tuple[list[tuple[str, str]], ...]:
    """Return the caution about other processes in one of two lists: it comes before stalls, or after them."""
    cpus = document["environment"].get("cpus")
    cores = max((trial["others_cores"] or 0.0 for trial in trials), default=0.0)
    share = cores / cpus if cpus else 0.0
    said = [(f"Other processes used up to {cores:.1f} of {cpus} CPUs during a trial.", WARNING)]
    return (said if share >= FULL_SHARE else []), (said if BUSY_SHARE <= share < FULL_SHARE else [])
