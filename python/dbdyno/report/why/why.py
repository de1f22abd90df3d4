"""The evidence for cells in which one side is significantly faster, as JSON and for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.text import Text

from dbdyno.report.cells import Compared
from dbdyno.report.comparison import Verdicts, difference
from dbdyno.report.core import words
from dbdyno.report.core.loads import LOAD_KEYS
from dbdyno.report.core.terminal import say
from dbdyno.report.why.counters import counters
from dbdyno.report.why.evidence import Evidence, Kind, Pairs
from dbdyno.report.why.functions import functions
from dbdyno.report.why.operations import operations
from dbdyno.report.why.plans import plans
from dbdyno.report.why.settings import settings, versions
from dbdyno.report.why.time import time_bands
from dbdyno.stats.comparison import FASTER, SLOWER

KINDS: tuple[Kind, ...] = (plans, versions, settings, functions, operations, time_bands, counters)
MOST_SHOWN = 6
"""Pieces of each group of evidence that a terminal shows; the JSON has all of them."""
_PLAN, _COUNTER = "plan", "counter"
_AT_MOST = (_PLAN, _COUNTER)
"""Kinds whose share is an upper bound: nothing tells how long one event takes, or another plan would have taken."""


@dataclass(frozen=True, slots=True)
class Why:
    """A decided cell and its evidence; the piece that explains most comes first.

    Attributes:
        verdict: `faster` or `slower`, of the candidate.
        interval: the difference with its interval, for people.
    """

    compared: Compared
    verdict: str
    interval: str
    evidence: tuple[Evidence, ...]


def reasons(verdicts: Verdicts) -> list[Why]:
    """Return the evidence for each cell in which one side is significantly faster."""
    decided = [compared for compared in verdicts.cells if compared.verdict in (FASTER, SLOWER)]
    return [Why(compared, compared.verdict, difference(compared), evidence_of(compared)) for compared in decided]


def evidence_of(compared: Compared) -> tuple[Evidence, ...]:
    """Return what differs between the trials of a cell: first the causes, then what explains most."""
    pairs = Pairs.of(compared)
    if not pairs.trials:
        return ()
    evidence = [piece for kind in KINDS for piece in kind(pairs)]
    evidence.sort(key=lambda piece: (not is_cause(piece), piece.kind == _COUNTER, -(piece.share or 0.0)))
    return tuple(evidence)


def is_cause(piece: Evidence) -> bool:
    """Return whether it precedes the load: another plan, version or setting. All else changed with the throughput."""
    return piece.kind == _PLAN or piece.share is None


def why_document(whys: Sequence[Why]) -> list[dict[str, object]]:
    """Return the evidence as plain JSON values, an object a cell."""
    return [
        {
            **{key: getattr(why.compared.cell, key) for key in LOAD_KEYS},
            "baseline": why.compared.baseline.label,
            "candidate": why.compared.candidate.label,
            "verdict": why.verdict,
            "ratio": why.compared.comparison and why.compared.comparison.ratio,
            "evidence": [asdict(evidence) for evidence in why.evidence],
        }
        for why in whys
    ]


def print_why(whys: Sequence[Why], console: Console, most: int = MOST_SHOWN) -> None:
    """Print for each decided cell what differs, and its effect on a transaction."""
    for why in whys:
        console.print()
        sides = f"{why.compared.candidate.name} is {why.verdict} than {why.compared.baseline.name}"
        load = f"{why.compared.cell.workload}, {why.compared.cell.load}: {why.interval}"
        say(console, Text(sides, "bold").append(f"  {load}", "not bold dim"), hang=2)
        for sentence in _sentences(why.evidence, most):
            say(console, sentence, indent=2, hang=2)


def _sentences(evidence: Sequence[Evidence], most: int) -> Iterator[str]:
    causes = [piece for piece in evidence if is_cause(piece)]
    effects = [piece for piece in evidence if not is_cause(piece)]
    for group in (causes, effects):
        yield from map(sentence, group[:most])
        if len(group) > most:
            yield f"… and {len(group) - most} more (--json)"
    if not causes:
        yield "No setting and no version differs."
    if not effects:
        yield "No observation explains it. Record more: --profile, or more repetitions."


def sentence(evidence: Evidence) -> str:
    """Say what changed, and how much of the difference that can explain."""
    share = ""
    if evidence.share:
        most = "up to " if evidence.kind in _AT_MOST else ""
        share = f", {most}{words.percent(evidence.share)} of the difference"
    note = f" ({evidence.note})" if evidence.note else ""
    return f"{evidence.kind:<10}{evidence.name}: {evidence.before} → {evidence.after}{share}{note}"
