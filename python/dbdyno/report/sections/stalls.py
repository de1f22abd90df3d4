"""Stalls: how even each trial was, second by second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbdyno.report.core import words
from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.steadiness import steady_class
from dbdyno.report.core.trial_documents import TrialDocument


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table of trials.

    Attributes:
        heading: its lines.
        text: what a cell says of a trial; empty if it is normal, a dash if it is unknown.
        left: its cells are words.
    """

    heading: tuple[str, ...]
    text: Callable[[TrialDocument], str]
    left: bool = False


def part(page: Page) -> Part | None:
    """Return the trial that stalled longest, and the columns in which something is known of a trial."""
    if not (page.clients_loaded and page.series):
        return None
    trials = [trial for trial in page.trials if trial["seconds"]]
    columns = [
        column for column in _columns(page) if {column.text(trial) for trial in trials} - {"", words.UNKNOWN, _NEITHER}
    ]
    return Part({"worst": words.worst_stall(page.trials), "columns": columns})


SECTION = Section("stalls.html.j2", part)

_NEITHER = f"{words.UNKNOWN} / {words.UNKNOWN}"


def _columns(page: Page) -> list[Column]:
    unit, length_us = words.latency_unit(page.trials)
    columns = [
        Column(("seconds",), lambda trial: words.whole(trial["stability"]["seconds"])),
        Column(("mean", "/s"), lambda trial: words.significant(trial["throughput_per_s"])),
        Column(("longest", "stall"), _longest),
        Column(("stalls", "/s"), lambda trial: _stalls(trial, "per_s", words.significant)),
        Column(
            ("stalled,", "of the time"), lambda trial: _stalls(trial, "share", lambda share: words.percent(share, 1))
        ),
        Column(("floor",), lambda trial: words.percent(trial["stability"]["floor"])),
        Column(("seconds below half /", "a tenth of the median"), _low_seconds),
        Column(("worst second's", f"p99, {unit}"), lambda trial: _worst_p99(trial, length_us)),
        Column(("variation", "at 1 s"), lambda trial: words.percent(trial["stability"]["variation_1s"], 1)),
        Column(("variation", "at 10 s"), lambda trial: words.percent(trial["stability"]["variation_10s"], 1)),
        Column(("last third,", "at most 300 s, /s"), lambda trial: words.whole(trial["ending"]["throughput_per_s"])),
        Column(("steady state",), _steady, left=True),
    ]
    if words.hit_ratios(page.document):
        columns.append(Column(("cache hits",), lambda trial: words.percent(words.hit_ratio(trial), 1)))
    return columns


def _longest(trial: TrialDocument) -> str:
    text = words.longest_stall(trial["stability"])
    return "" if text == "none" else text


def _stalls(trial: TrialDocument, name: str, written: Callable[[float], str]) -> str:
    stalls = trial["stability"].get("stalls")
    if not stalls:
        return words.UNKNOWN
    return written(float(stalls[name])) if stalls["count"] else ""  # type: ignore[literal-required]


def _low_seconds(trial: TrialDocument) -> str:
    below = trial["stability"]["seconds_below_half"], trial["stability"]["seconds_below_tenth"]
    return "" if below == (0, 0) else " / ".join(map(words.whole, below))


def _worst_p99(trial: TrialDocument, length_us: float) -> str:
    worst_us = trial["stability"]["worst_second_p99_us"]
    return words.significant(None if worst_us is None else worst_us / length_us)


def _steady(trial: TrialDocument) -> str:
    state = trial["steady_state"]
    cut = f", from {state['cut_s']} s on" if state["steady"] and state["cut_s"] else ""
    return f"{steady_class(trial)}{cut}"
