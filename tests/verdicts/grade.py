"""Verdicts graded: right, honestly unknown, or wrong, and their totals."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from .case import UNEXPLAINED, Case, Load, Variant, accepted

LEAST_RIGHT = 0.85
"""The share of cases that must be right."""


class Grade(Enum):
    """How good a verdict is."""

    RIGHT = "right"
    UNKNOWN = "unknown"
    WRONG_LOW = "wrong, confidence low"
    WRONG = "wrong, confidence medium or high"


@dataclass(frozen=True)
class Verdict:
    """The verdict on one trial of a scenario, and the trial's throughput. taken: the day."""

    scenario: Load | Case
    variant: Variant
    repeat: int
    limit: str
    confidence: str
    sentence: str
    throughput_per_s: float
    taken: str = ""

    @property
    def grade(self) -> Grade:
        """How good the verdict is; a sentence that lacks what it must hold is wrong."""
        says = self.scenario.says if isinstance(self.scenario, Case) else ""
        if self.limit in accepted(self.scenario, self.variant) and says in self.sentence:
            return Grade.RIGHT
        if self.limit == UNEXPLAINED:
            return Grade.UNKNOWN
        return Grade.WRONG_LOW if self.confidence == "low" else Grade.WRONG


def totals(verdicts: Iterable[Verdict]) -> Counter[Grade]:
    """Return how many verdicts have each grade."""
    return Counter(verdict.grade for verdict in verdicts)


def groups(verdicts: list[Verdict]) -> dict[str, list[Verdict]]:
    """Return the verdicts by what they prove: rules were written with them, only checked with them, or controls."""
    cases = [verdict for verdict in verdicts if isinstance(verdict.scenario, Case)]
    return {
        "development": [verdict for verdict in cases if not verdict.scenario.held_out],
        "held-out": [verdict for verdict in cases if verdict.scenario.held_out],
        "controls": [verdict for verdict in verdicts if isinstance(verdict.scenario, Load)],
    }


def failures(verdicts: list[Verdict]) -> list[str]:
    """Return why the rules do not hold; nothing if they do."""
    reasons = []
    if wrong := totals(verdicts)[Grade.WRONG]:
        reasons.append(f"{wrong} of {len(verdicts)} verdicts are wrong with confidence medium or high")
    cases = [verdict for verdict in verdicts if isinstance(verdict.scenario, Case)]
    right = totals(cases)[Grade.RIGHT]
    if right < LEAST_RIGHT * len(cases):
        reasons.append(f"{right} of {len(cases)} cases are right, at least {LEAST_RIGHT:.0%} are needed")
    return reasons
