"""The comparisons of a base and a head: same, faster, slower or unstable (docs/statistics.md, section 3.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from dbdyno.errors import UserError
from dbdyno.report.cells import Compared, sides_of_run
from dbdyno.report.comparison import INVALID, Verdicts, compare_sides
from dbdyno.report.core import words
from dbdyno.report.core.loads import LOAD_KEYS
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.noise import floor_of
from dbdyno.report.why.evidence import Evidence, Pairs
from dbdyno.report.why.why import Why, evidence_of, print_why
from dbdyno.results.model import Run
from dbdyno.results.noise import NoiseFloor
from dbdyno.results.usable import compared_rate_per_s
from dbdyno.stats.comparison import FASTER, SLOWER, log_ratios
from dbdyno.stats.sequential import SAME, UNSTABLE, Decision, aa_noise, decide, pairs_for

BASE, HEAD = "base", "head"
NOT_JUDGED = "not judged"
OUTCOMES = (SLOWER, NOT_JUDGED, UNSTABLE, FASTER, SAME)
"""The worst first."""
FEW = 3
"""Pieces of evidence that are shown for each difference."""
_STYLES = {FASTER: "green", SLOWER: "red", UNSTABLE: "yellow", NOT_JUDGED: "yellow"}


@dataclass(frozen=True)
class Decided:
    """One comparison.

    Attributes:
        decision: `None` if there is no usable pair.
        outcome: of OUTCOMES, or `None` while another pair may still decide it.
        reason: why it is unstable or not judged, else `None`.
        noise: what the base differed from itself by in this run, as a share; `None` if too few trials tell.
    """

    experiment: str
    compared: Compared
    decision: Decision | None
    outcome: str | None
    reason: str | None
    noise: float | None
    rates_per_s: tuple[list[float], list[float]]

    @property
    def interval(self) -> str:
        """The difference with its interval, for people."""
        decision = self.decision
        if decision is None:
            return words.UNKNOWN
        centre, *ends = (
            None if ratio is None else f"{100 * (ratio - 1):+.1f}"
            for ratio in (decision.ratio, decision.low, decision.high)
        )
        low, high = (end or words.UNKNOWN for end in ends)
        return f"{centre} % [{low}, {high}]"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What changed, if one side is faster for certain."""
        return evidence_of(self.compared) if self.outcome in (FASTER, SLOWER) else ()


def decisions(run: Run, margin: float, floors: Sequence[NoiseFloor], comparisons: int) -> list[Decided]:
    """Return the comparisons of a run's base and head as they stand; see `ended` for when no pair is added.

    Args:
        margin: the share that counts as no difference.
        floors: what is known of this host's noise.
        comparisons: how many are judged together.

    Raises:
        UserError: a side is missing.
    """
    if missing := [side for side in (BASE, HEAD) if side not in run.labels]:
        why = "; ".join(str(one["reason"]) for one in run.facts.skipped) or "no trial of it was reached"
        raise UserError(f"{run.path.name}: {missing[0]} was not measured: {why}")
    verdicts = compare_sides(sides_of_run(run, BASE), margin, 0.0, force=False)
    return [_decided(run, one, margin, floors, comparisons) for one in _of_head(verdicts)]


def _of_head(verdicts: Verdicts) -> list[Compared]:
    return [one for one in verdicts.cells if one.candidate.label == HEAD]


def _decided(run: Run, one: Compared, margin: float, floors: Sequence[NoiseFloor], comparisons: int) -> Decided:
    pairs = Pairs.of(one)
    rates = tuple([compared_rate_per_s(trial) for trial in pairs.side(which)] for which in (0, 1))
    both = (rates[0], rates[1])
    name = str(run.facts.experiment)
    if one.verdict == INVALID or not pairs.trials:
        return Decided(name, one, None, NOT_JUDGED, one.reason or "no pair of trials can be used", None, both)
    floor = floor_of(floors, one.baseline, one.candidate, one.cell)
    decision = decide(log_ratios(*both).tolist(), margin, floor.noise if floor else 0.0, comparisons)
    reason = None
    if decision.outcome == UNSTABLE and floor:
        noise = words.significant(100 * floor.noise)
        reason = f"A/A noise of this host is ±{noise} % ({floor.run}), above the margin"
    return Decided(name, one, decision, decision.outcome, reason, aa_noise(both[0], comparisons), both)


def ended(found: Sequence[Decided], margin: float, comparisons: int) -> list[Decided]:
    """Return the comparisons when no pair is added any more: what is undecided is unstable, and says why."""
    return [one if one.outcome else _unstable(one, margin, comparisons) for one in found]


def _unstable(one: Decided, margin: float, comparisons: int) -> Decided:
    pairs = len(one.rates_per_s[0])
    if one.noise is not None and one.noise > margin:
        reason = (
            f"A/A noise of this host is ±{words.significant(100 * one.noise)} % after {pairs} pairs, above the margin"
        )
    else:
        needed = pairs_for(log_ratios(*one.rates_per_s).tolist(), margin, comparisons)
        reason = f"the budget ended after {pairs} pairs; {f'about {needed}' if needed else 'more than 50'} would decide"
    return Decided(one.experiment, one.compared, one.decision, UNSTABLE, reason, one.noise, one.rates_per_s)


def ci_document(found: Sequence[Decided], margin: float, host: Sequence[str], status: int) -> dict[str, Any]:
    """Return the decisions as plain JSON values; ratios are of the head over the base.

    host: what of this host spoils a measurement, a sentence each. status: what the command ends with.
    """
    return {
        "format": 1,
        "sentence": sentence(found, margin),
        "status": status,
        "margin": margin,
        "host": list(host),
        "comparisons": [_document(one) for one in found],
    }


def _document(one: Decided) -> dict[str, Any]:
    return {
        "experiment": one.experiment,
        "run": one.compared.candidate.run.path.name,
        **{key: getattr(one.compared.cell, key) for key in LOAD_KEYS},
        "base_per_s": one.rates_per_s[0],
        "head_per_s": one.rates_per_s[1],
        **(asdict(one.decision) if one.decision else {}),
        "outcome": one.outcome,
        "reason": one.reason,
        "aa_noise": one.noise,
        "evidence": [asdict(evidence) for evidence in one.evidence],
    }


def sentence(found: Sequence[Decided], margin: float) -> str:
    """Say in one sentence what the comparisons come to."""
    counts = Counter(one.outcome for one in found)
    parts = [f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome]]
    comparisons = f"{len(found)} comparison{'' if len(found) == 1 else 's'}"
    return f"{comparisons}: {', '.join(parts)} (margin ±{words.significant(100 * margin)} %)"


def print_decisions(found: Sequence[Decided], margin: float, console: Console) -> None:
    """Print a table of the comparisons, why some were not decided, and the evidence for differences."""
    rows = list(zip(*map(row_of, found), strict=True))
    headings = ("experiment", "load", "base/s", "head/s", "difference [95 %]", "n", "outcome")
    left = ("experiment", "load", "outcome")
    columns = [
        Column(name, cells, 1 if name == "n" else None, left=name in left)
        for name, cells in zip(headings, rows, strict=True)
    ]
    print_columns(columns, console, styles=[_STYLES.get(one.outcome or "", "") for one in found])
    for one in found:
        if one.reason:
            say(console, f"{one.experiment}, {one.compared.cell.load}: {one.outcome}, {one.reason}", "yellow", hang=2)
    differ = [one for one in found if one.outcome in (FASTER, SLOWER)]
    print_why([Why(one.compared, str(one.outcome), one.interval, one.evidence) for one in differ], console, FEW)
    say(console, sentence(found, margin), "bold")


def row_of(one: Decided) -> tuple[str, ...]:
    """Return a comparison as the cells of a table: experiment, load, base/s, head/s, difference, pairs, outcome."""
    rates = (words.whole(sum(side) / len(side)) if side else words.UNKNOWN for side in one.rates_per_s)
    workload = one.compared.cell.workload
    named = one.experiment if one.experiment == workload else f"{one.experiment}: {workload}"
    return named, one.compared.cell.load, *rates, one.interval, str(len(one.rates_per_s[0])), str(one.outcome)
