"""Statements that the two sides execute in different ways, by their recorded plans (docs/contract.md, Query plans)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dbdyno.report.why.evidence import LEAST_SHARE, Evidence, Pairs
from dbdyno.report.why.operations import operations_us, share_of
from dbdyno.results.model import Trial

BEFORE, AFTER = "before", "after"
"""When a plan was recorded: before the run or after it."""
_MOST_CHARACTERS = 120

_Steps = tuple[str, ...]


def plans(pairs: Pairs) -> list[Evidence]:
    """Return the operations whose plan differs; first the one whose time changed most.

    A plan can explain at most the change in its operation's time.
    """
    sides = [[_plans(trial) for trial in pairs.side(which)] for which in (0, 1)]
    names = dict.fromkeys(name for side in sides for recorded in side for name, _ in recorded)
    changed = [evidence for name in names if (evidence := _evidence(name, pairs, sides))]
    return sorted(changed, key=lambda evidence: -(evidence.share or 0.0))


def _plans(trial: Trial) -> dict[tuple[str, str], _Steps]:
    """Return the steps of each plan, by operation and when it was recorded."""
    return {(plan["operation"], plan["when"]): tuple(plan["steps"]) for plan in trial.recorded.query_plans}


def _evidence(name: str, pairs: Pairs, sides: list[list[dict[tuple[str, str], _Steps]]]) -> Evidence | None:
    usual = {when: [_usual(side, name, when) for side in sides] for when in (BEFORE, AFTER)}
    differing = [when for when in (AFTER, BEFORE) if None not in usual[when] and usual[when][0] != usual[when][1]]
    share = _share(name, pairs)
    if not differing or (share is not None and share < LEAST_SHARE):
        return None
    steps = [steps or () for steps in usual[differing[0]]]
    note = "" if len(differing) == 2 or usual[BEFORE] == usual[AFTER] else f"only {differing[0]} the load"
    return Evidence("plan", name, _only_in(steps, 0), _only_in(steps, 1), share, note)


def _usual(side: Sequence[dict[tuple[str, str], _Steps]], name: str, when: str) -> _Steps | None:
    """Return the plan that most trials of a side have; `None` if none was recorded."""
    counted = Counter(recorded[name, when] for recorded in side if (name, when) in recorded)
    return counted.most_common(1)[0][0] if counted else None


def _share(name: str, pairs: Pairs) -> float | None:
    sides = [[operations_us(trial).get(name) for trial in pairs.side(which)] for which in (0, 1)]
    baseline, candidate = ([value for value in side if value is not None] for side in sides)
    if not pairs.time_us or not baseline or not candidate:
        return None
    return max(0.0, min(1.0, share_of((baseline, candidate), pairs)))


def _only_in(steps: Sequence[_Steps], which: int) -> str:
    """Return the steps that only this side has; all of them if they differ in their order alone."""
    own, other = ([step.strip() for step in steps[side]] for side in (which, 1 - which))
    text = "; ".join([step for step in own if step not in other] or own)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
