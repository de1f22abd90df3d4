"""A part of the torture suite, and its report: cases, findings, and what it had to leave out."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

FINDINGS_SHOWN = 200
"""The most findings of each part in the terminal; all are counted."""


@dataclass(frozen=True)
class Finding:
    """One thing that must not be. group: which protocol, store or kind of input. case: its number, to repeat it."""

    part: str
    group: str
    case: int
    what: str


@dataclass
class Report:
    """The results of one part.

    part, seed: of which part, and from which seed its cases are drawn. ends_at: the monotonic time after which no
    further case begins; None: never. cases: how many were done, by group. skipped: groups left out, and why.
    """

    part: str
    seed: int
    ends_at: float | None = None
    quiet: bool = False
    cases: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def out_of_time(self) -> bool:
        """Return whether no further case may begin."""
        return self.ends_at is not None and time.monotonic() > self.ends_at

    def case(self, group: str, count: int = 1) -> None:
        """Count a case that was done, or several."""
        self.cases[group] += count

    def finding(self, group: str, case: int, what: str) -> None:
        """Note a finding, and print it with the command that repeats it alone."""
        self.findings.append(Finding(self.part, group, case, what))
        if len(self.findings) <= FINDINGS_SHOWN:
            self.say(f"FINDING {what}\n    repeat: python -m torture {self.part} --seed {self.seed} --case {case}")

    def skip(self, group: str, reason: str) -> None:
        """Note that a group is left out, and why."""
        if group not in self.skipped:
            self.skipped[group] = reason
            self.say(f"skipped {group}: {reason}")

    def say(self, line: str) -> None:
        """Print a line about how it goes on."""
        if not self.quiet:
            print(f"{self.part}: {line}", file=sys.stderr, flush=True)

    def rows(self) -> Iterator[tuple[str, int, int]]:
        """Yield each group with its cases and its findings."""
        counts = Counter(finding.group for finding in self.findings)
        for group in sorted({*self.cases, *counts}):
            yield group, self.cases[group], counts[group]


@dataclass(frozen=True)
class Part:
    """One part of the suite.

    unit: what a case is, in the plural. full: how many of them a full run has; `each` says of what.
    short: how many CI does. run: does the cases whose numbers it is given, until the report is out of time.
    """

    name: str
    unit: str
    full: int
    short: int
    run: Callable[[int, range, Report], None]
    each: str = ""


def dice(seed: int, case: int) -> random.Random:
    """Return where all choices of one case come from, whatever cases ran before it."""
    return random.Random(f"{seed} {case}")
