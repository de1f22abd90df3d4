"""Events beside the load: how long each took, and what throughput, p99 and service it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.console import Console

from dbdyno.report.core import words
from dbdyno.report.core.loads import at
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.results.model import WHOLE_SECOND, Recorded, Trial
from dbdyno.stats.disturbance import NOTHING, Disturbance, Second, Span, Spread, disturbance, spread

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.event_documents import EventDocument, EventFigures, EventSummary, SpreadDocument
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.trial_documents import TrialDocument
    from dbdyno.results.json_types import EventStated

HEADINGS = (
    *("system", "load", "event", "took\ns", "per s\nbefore", "during", "after"),
    *("p99 ms\nbefore", "during", "after", "no service\ns", "back\nafter s", "ended"),
)
LEFT = (0, 1, 2, 12)
_DROP = {4: 1, 7: 2, 9: 3, 11: 4, 8: 5}
"""Columns that a narrow terminal leaves out, by their index: the highest value goes first."""
NOTE = (
    "Before: the median of the measured seconds before the first event. During and after: the change against that; "
    "after ends where the next event begins. No service: times of 0.1 s or more without a completed transaction, from "
    "the event's begin on. Back: from its end to the first second with 90% of the throughput before. With "
    "repetitions: mean ± half of the 95% interval."
)
OUTAGES = ("restart", "kill")
"""Actions that take the server away."""
_NUMBERS: tuple[EventFigures, ...] = (
    *("duration_s", "before_per_s", "during_change", "after_change", "before_p99_ms", "during_p99_ms", "after_p99_ms"),
    *("without_service_s", "recovered_s"),
)


def event_documents(trial: Trial) -> list[EventDocument]:
    """Return the events of a trial with their figures, in the order of their times."""
    stated, recorded = trial.facts.events or (), trial.recorded
    began, end_s = recorded.run_began_unix_s, sum(interval.seconds for interval in recorded.intervals)
    if began is None:
        return [_document(event, None, end_s) for event in stated]
    begins = [event["began_unix_s"] - began for event in stated if event["began_unix_s"] is not None]
    seconds = _seconds(recorded)
    documents = []
    for event in stated:
        if event["began_unix_s"] is None:
            documents.append(_document(event, None, end_s))
            continue
        begin_s = event["began_unix_s"] - began
        ended_s = end_s if event["ended_unix_s"] is None else event["ended_unix_s"] - began
        until_s = min((later for later in begins if later > begin_s), default=end_s)
        figures = disturbance(seconds, recorded.gaps_ns, Span(min(begins), begin_s, ended_s, until_s))
        documents.append(_document(event, begin_s, ended_s, figures))
    return documents


def _seconds(recorded: Recorded) -> list[Second]:
    """Return the measured whole seconds, each with its time since the run began."""
    begins = accumulate((interval.seconds for interval in recorded.intervals), initial=0.0)
    return [
        Second(begin_s, interval.seconds, interval.completed, interval.p99_ns)
        for begin_s, interval in zip(begins, recorded.intervals, strict=False)
        if interval.measured and interval.seconds > WHOLE_SECOND
    ]


def _document(event: EventStated, begin_s: float | None, end_s: float, cost: Disturbance = NOTHING) -> EventDocument:
    has_ended = begin_s is not None and event["ended_unix_s"] is not None
    return {
        "name": event["name"],
        "at": event["at"],
        "way": next(way for way in ("sql", "command", "action") if way in event),
        "text": str(event.get("sql") or event.get("command") or event.get("action")),
        "state": event["state"],
        "reason": event["reason"],
        "exit_status": event["exit_status"],
        "output": list(event["output"]),
        "begin_s": _rounded(begin_s),
        "end_s": _rounded(end_s) if begin_s is not None else None,
        "duration_s": _rounded(end_s - begin_s) if begin_s is not None and has_ended else None,
        "before_per_s": cost.before_per_s,
        "during_per_s": cost.during_per_s,
        "during_change": cost.during_change,
        "after_per_s": cost.after_per_s,
        "after_change": cost.after_change,
        "before_p99_ms": cost.before_p99_ms,
        "during_p99_ms": cost.during_p99_ms,
        "after_p99_ms": cost.after_p99_ms,
        "worst_p99_ms": cost.worst_p99_ms,
        "recovered_s": cost.recovered_s,
        "without_service_s": cost.without_service_s,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def summaries(trials: Iterable[TrialDocument]) -> list[EventSummary]:
    """Return each event of each load with means and intervals over its repetitions; unusable trials are left out."""
    groups: dict[tuple[str, str, str, int], list[tuple[TrialDocument, EventDocument]]] = {}
    for trial in trials:
        for event in trial.get("events", ()):
            key = words.label_of(trial), f"{trial['workload']}, {at(trial)}", event["name"], event["at"]
            groups.setdefault(key, []).append((trial, event))
    return [_summary(*key, list(group)) for key, group in groups.items()]


def _summary(
    label: str, load: str, name: str, at: int, group: Sequence[tuple[TrialDocument, EventDocument]]
) -> EventSummary:
    usable = [event for trial, event in group if trial["state"] == "complete" and event["state"] == "ok"]
    figures: dict[EventFigures, SpreadDocument | None] = {}
    for number in _NUMBERS:
        known = [value for event in usable if (value := event[number]) is not None]
        figures[number] = _spread_document(spread(known))
    states = list(dict.fromkeys(event["state"] for _, event in group))
    return {
        "label": label,
        "load": load,
        "name": name,
        "at": at,
        "trials": len(group),
        "usable": len(usable),
        "state": ", ".join(states),
        "figures": figures,
    }


def _spread_document(figure: Spread | None) -> SpreadDocument | None:
    if figure is None:
        return None
    return {"mean": figure.mean, "low": figure.low, "high": figure.high, "repetitions": figure.repetitions}


def disturbed(run_document: RunDocument) -> bool:
    """Return whether the run has events."""
    return bool(run_document.get("events"))


def rows(run_document: RunDocument) -> list[list[str]]:
    """Return a row of `HEADINGS` for each event of each load."""
    return [_row(summary) for summary in run_document.get("events", ())]


def _row(summary: EventSummary) -> list[str]:
    def cell(number: EventFigures, shape: Callable[[float], str] = words.significant) -> str:
        figure = summary["figures"][number]
        if figure is None:
            return words.UNKNOWN
        mean, low = figure["mean"], figure["low"]
        half = f" ± {shape(mean - low).lstrip('+-')}" if low is not None else ""
        return f"{shape(mean)}{half}"

    return [
        *(summary["label"], summary["load"], f"{summary['name']} at {summary['at']} s", cell("duration_s")),
        *(cell("before_per_s"), cell("during_change", _percent), cell("after_change", _percent)),
        *(cell("before_p99_ms"), cell("during_p99_ms"), cell("after_p99_ms")),
        *(cell("without_service_s"), cell("recovered_s"), summary["state"]),
    ]


def print_events(run_document: RunDocument, console: Console, notes: bool) -> None:
    """Print the table of all events; a narrow terminal leaves columns out. notes: also explain its columns."""
    cells = list(zip(*rows(run_document), strict=True))
    titles = [f"{event} ({load})" for event, load in zip(cells[2], cells[1], strict=True)]
    ended = {summary["state"] for summary in run_document.get("events", ())}
    left_out = (1, 2, *(() if ended - {"ok"} else (12,)))
    kept = [index for index in range(len(HEADINGS)) if index not in left_out]
    columns = [
        Column(HEADINGS[index], cells[index], _DROP.get(index), left=index in LEFT, style="bold" if not index else "")
        for index in kept
    ]
    print_columns([Column("", titles, left=True), *columns], console, titled=True)
    if notes:
        say(console, NOTE, "dim", indent=2)


def _percent(share: float) -> str:
    return f"{100 * share:+.0f}%"


def has_outage(trial: TrialDocument) -> bool:
    """Return whether an event took the server away for a while, so that operations had to fail."""
    return any(event["way"] == "action" and event["text"] in OUTAGES for event in trial.get("events", ()))


def failures(trials: Iterable[TrialDocument]) -> list[str]:
    """Return a sentence for each event that did not succeed."""
    return [
        f"{trial['trial']}: the event '{event['name']}' at {event['at']} s: {event['state']}: {event['reason']}"
        for trial in trials
        for event in trial.get("events", ())
        if event["state"] != "ok"
    ]


def part(page: Page) -> Part | None:
    """Return the table of all events."""
    content = {"heading": "Events", "note": NOTE, "headings": HEADINGS, "left": LEFT, "rows": rows(page.document)}
    return Part(content) if disturbed(page.document) else None


SECTION = Section("table.html.j2", part)
