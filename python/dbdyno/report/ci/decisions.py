"""The comparisons of a base and a head: same, faster, slower or unstable (docs/statistics.md, section 3.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from rich.console import Console

from dbdyno.errors import UserError
from dbdyno.report.cells import Compared, sides_of_run
from dbdyno.report.comparison import INVALID, Verdicts, compare_sides
from dbdyno.report.core import words
from dbdyno.report.core.loads import LOAD_KEYS
from dbdyno.report.core.named_workload import named_workload
from dbdyno.report.core.terminal import Column, print_columns, say
from dbdyno.report.noise import floor_of
from dbdyno.report.why.evidence import Evidence, Pairs
from dbdyno.report.why.why import Why, evidence_of, print_why
from dbdyno.results.model import Run
from dbdyno.results.noise import NoiseFloor
from dbdyno.results.usable import compared_rate_per_s
from dbdyno.stats.comparison import FASTER, SLOWER, log_ratios
from dbdyno.stats.sequential import MOST_PAIRS, SAME, UNSTABLE, Decision, aa_noise, decide, least_pairs, more_pairs

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
        noise: the base's A/A noise in this run, as a share; `None` with too few trials.
        seems_slower: the head's mean is below the base's by more than the margin, whether that is confirmed or not.
        more_pairs: about how many more would decide it, if the mean and the scatter stay as they are.
    """

    experiment: str
    compared: Compared
    decision: Decision | None
    outcome: str | None
    reason: str | None
    noise: float | None
    rates_per_s: tuple[list[float], list[float]]
    seems_slower: bool = False
    more_pairs: int = 0

    @property
    def pairs(self) -> int:
        """How many pairs of trials could be used."""
        return len(self.rates_per_s[0])

    @property
    def interval(self) -> str:
        """The difference with its interval, for people."""
        decision = self.decision
        if decision is None:
            return words.UNKNOWN
        return interval_of(decision)

    @property
    def named_workload(self) -> str:
        """The workload for people, with the experiment if it is not named after its workload."""
        workload = self.compared.cell.workload
        return workload if named_workload(workload).name == self.experiment else f"{self.experiment}: {workload}"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence of what changed, if one side is significantly faster."""
        return evidence_of(self.compared) if self.outcome in (FASTER, SLOWER) else ()


def interval_of(decision: Decision) -> str:
    """Return a difference with its interval, for people."""
    centre = f"{100 * (decision.ratio - 1):+.1f} %"
    if decision.low is None or decision.high is None:
        return f"{centre} (no interval)"
    return f"{centre} [{100 * (decision.low - 1):+.1f}, {100 * (decision.high - 1):+.1f}]"


def decisions(run: Run, margin: float, floors: Sequence[NoiseFloor], comparisons: int) -> list[Decided]:
    """Return the comparisons of a run's base and head as they are now; `ended` concludes them.

    Args:
        margin: the share that counts as no difference.
        floors: the known noise floors of this host.
        comparisons: how many are judged together.

    Raises:
        UserError: a side is missing.
    """
    if missing := [side for side in (BASE, HEAD) if side not in run.labels]:
        why = "; ".join(str(skipped["reason"]) for skipped in run.facts.skipped) or "no trial of it was reached"
        raise UserError(f"{run.path.name}: {missing[0]} was not measured: {why}")
    verdicts = compare_sides(sides_of_run(run, BASE), margin, 0.0, force=False)
    return [_decided(run, compared, margin, floors, comparisons) for compared in _of_head(verdicts)]


def _of_head(verdicts: Verdicts) -> list[Compared]:
    return [compared for compared in verdicts.cells if compared.candidate.label == HEAD]


def _decided(run: Run, compared: Compared, margin: float, floors: Sequence[NoiseFloor], comparisons: int) -> Decided:
    pairs = Pairs.of(compared)
    rates = tuple([compared_rate_per_s(trial) for trial in pairs.side(which)] for which in (0, 1))
    both = (rates[0], rates[1])
    name = str(run.facts.experiment)
    if compared.verdict == INVALID or not pairs.trials:
        return Decided(name, compared, None, NOT_JUDGED, compared.reason or "no pair of trials can be used", None, both)
    floor = floor_of(floors, compared.baseline, compared.candidate, compared.cell)
    ratios, noise = log_ratios(*both).tolist(), floor.noise if floor else 0.0
    decision = decide(ratios, margin, noise, comparisons)
    reason = None
    if decision.outcome == UNSTABLE and floor:
        reason = f"A/A noise of this host is ±{words.significant(100 * noise)} % ({floor.run}), above the margin"
    more = 0 if decision.outcome else more_pairs(ratios, max(margin, noise), comparisons)
    slower = decision.ratio < 1 / (1 + margin)
    return Decided(
        *(name, compared, decision, decision.outcome, reason, aa_noise(both[0], comparisons), both, slower, more)
    )


def ended(all_decided: Sequence[Decided], margin: float, comparisons: int) -> list[Decided]:
    """Return the comparisons after the last pair: those still open are unstable, with the reason."""
    return [decided if decided.outcome else _unstable(decided, margin, comparisons) for decided in all_decided]


def _unstable(decided: Decided, margin: float, comparisons: int) -> Decided:
    pairs, least = decided.pairs, least_pairs(comparisons)
    if pairs < least:
        together = f"{comparisons} comparisons together need" if comparisons > 1 else "a comparison needs"
        reason = f"the budget ended after {pairs} pairs; {together} {least} or more"
    elif decided.noise is not None and decided.noise > margin:
        noise = words.significant(100 * decided.noise)
        reason = f"A/A noise of this host is ±{noise} % after {pairs} pairs, above the margin"
    else:
        needed = pairs + decided.more_pairs
        wanted = f"about {needed}" if needed <= MOST_PAIRS else f"more than {MOST_PAIRS}"
        reason = f"the budget ended after {pairs} pairs; {wanted} would decide"
    return replace(decided, outcome=UNSTABLE, reason=reason)


def ci_document(all_decided: Sequence[Decided], margin: float, host: Sequence[str], status: int) -> dict[str, object]:
    """Return the decisions as plain JSON values; ratios are of the head over the base.

    host: what disturbs measurements on this host, a sentence each. status: the exit status of the command.
    """
    return {
        "format": 1,
        "sentence": sentence(all_decided, margin),
        "status": status,
        "margin": margin,
        "host": list(host),
        "comparisons": [_document(decided) for decided in all_decided],
    }


def _document(decided: Decided) -> dict[str, object]:
    return {
        "experiment": decided.experiment,
        "run": decided.compared.candidate.run.path.name,
        **{key: getattr(decided.compared.cell, key) for key in LOAD_KEYS},
        "base_per_s": decided.rates_per_s[0],
        "head_per_s": decided.rates_per_s[1],
        **(asdict(decided.decision) if decided.decision else {}),
        "outcome": decided.outcome,
        "reason": decided.reason,
        "aa_noise": decided.noise,
        "evidence": [asdict(evidence) for evidence in decided.evidence],
    }


def sentence(all_decided: Sequence[Decided], margin: float) -> str:
    """Return the number of comparisons by outcome, in one sentence."""
    counts = Counter(decided.outcome for decided in all_decided)
    parts = [f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome]]
    comparisons = f"{len(all_decided)} comparison{'' if len(all_decided) == 1 else 's'}"
    return f"{comparisons}: {', '.join(parts)} (margin ±{words.significant(100 * margin)} %)"


def print_decisions(all_decided: Sequence[Decided], margin: float, console: Console) -> None:
    """Print a table of the comparisons, why some were not decided, and the evidence for differences."""
    rows = list(zip(*map(row_of, all_decided), strict=True))
    headings = ("experiment", "load", "base/s", "head/s", "difference [95 %]", "n", "outcome")
    left = ("experiment", "load", "outcome")
    columns = [
        Column(name, cells, 1 if name == "n" else None, left=name in left)
        for name, cells in zip(headings, rows, strict=True)
    ]
    print_columns(columns, console, styles=[_STYLES.get(decided.outcome or "", "") for decided in all_decided])
    for which, reason in reasons_of(all_decided):
        say(console, f"{which}: {reason}", "yellow", hang=2)
    differ = [decided for decided in all_decided if decided.outcome in (FASTER, SLOWER)]
    print_why(
        [Why(decided.compared, str(decided.outcome), decided.interval, decided.evidence) for decided in differ],
        console,
        FEW,
    )
    say(console, sentence(all_decided, margin), "bold")


def reasons_of(all_decided: Sequence[Decided]) -> list[tuple[str, str]]:
    """Return each reason without an answer, with the comparisons of an experiment that it holds for."""
    alike: dict[tuple[str, str], list[Decided]] = {}
    for decided in all_decided:
        if decided.reason:
            alike.setdefault((decided.experiment, decided.reason), []).append(decided)
    return [
        (
            f"{experiment}, {len(group)} comparisons"
            if len(group) > 1
            else f"{group[0].named_workload}, {group[0].compared.cell.load}",
            reason,
        )
        for (experiment, reason), group in alike.items()
    ]


def row_of(decided: Decided) -> tuple[str, ...]:
    """Return a comparison as the cells of a table: experiment, load, base/s, head/s, difference, pairs, outcome."""
    rates = (words.whole(sum(side) / len(side)) if side else words.UNKNOWN for side in decided.rates_per_s)
    return (
        decided.named_workload,
        decided.compared.cell.load,
        *rates,
        decided.interval,
        str(decided.pairs),
        str(decided.outcome),
    )
