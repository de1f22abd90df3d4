"""Steady states in words: class, drift, and which trials had none (docs/statistics.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dbdyno.report.core.words import trial_name
from dbdyno.stats.steady_state import NO_STEADY_STATE, SHORTEST_S, TOO_SHORT

if TYPE_CHECKING:
    from dbdyno.report.core.trial_documents import TrialDocument

PER_HOUR_FROM_S = 300
"""In a shorter part an hour's drift is mostly noise: the drift over the measured seconds is stated."""
MOST_NAMED = 4


def steady_class(trial: TrialDocument) -> str:
    """Return the class and the drift of a trial's steady state: `drifting, -12.4% an hour`."""
    drifted = drift(trial)
    return f"{trial['steady_state']['class']}{f', {drifted}' if drifted else ''}"


def drift(trial: TrialDocument) -> str:
    """Return the drift over the kept part, per hour if that is long enough; empty if unknown."""
    state = trial["steady_state"]
    if state.get("drift") is None:
        return ""
    kept_s = round(trial["seconds"] - (0 if state["applied"] else state["cut_s"]))
    if kept_s < PER_HOUR_FROM_S or state["drift_per_hour"] is None:
        return f"{state['drift']:+.1%} in {'the last ' if state['cut_s'] else ''}{kept_s} s"
    return f"{state['drift_per_hour']:+.1%} an hour"


def remarks(trials: Sequence[TrialDocument]) -> Iterator[str]:
    """Yield remarks about trials without a steady state, and about those too short to tell."""
    measured = [trial for trial in trials if trial["seconds"] > 0]
    if any(trial["steady_state"]["class"] == TOO_SHORT for trial in measured):
        yield f"Trials under {SHORTEST_S} s are too short to show a steady state."
    unsteady = [trial for trial in measured if _unsteady(trial)]
    if unsteady:
        yield (
            f"No steady state in {len(unsteady)} of {len(trials)} trials, so their means depend on their length: "
            f"{'; '.join(_named(unsteady))}."
        )


def _unsteady(trial: TrialDocument) -> bool:
    state = trial["steady_state"]
    return state["class"] != TOO_SHORT and not state["steady"]


def _named(trials: Sequence[TrialDocument]) -> Iterable[str]:
    for trial in trials[:MOST_NAMED]:
        kind = "" if trial["steady_state"]["class"] == NO_STEADY_STATE else trial["steady_state"]["class"]
        why = ", ".join(filter(None, (kind, drift(trial))))
        yield trial_name(trial) + (f" ({why})" if why else "")
    if len(trials) > MOST_NAMED:
        yield f"and {len(trials) - MOST_NAMED} more"
