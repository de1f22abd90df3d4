"""The steps of `dbdyno bisect`: each measures two builds, and is kept so that it is not measured again."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypedDict

from rich.console import Console

from dbdyno.cli.ci import paired
from dbdyno.cli.options import Options
from dbdyno.cli.running import run_experiment
from dbdyno.cli.until_decided import UntilDecided
from dbdyno.contract import JsonObject
from dbdyno.errors import DbdynoError, UserError
from dbdyno.report.ci.decisions import NOT_JUDGED, Decided, decisions
from dbdyno.results.jsonfiles import read_object
from dbdyno.results.model import Run
from dbdyno.results.noise import known_noise
from dbdyno.results.read import read_run
from dbdyno.results.write import write_object
from dbdyno.stats import bisection
from dbdyno.stats.bisection import INCONCLUSIVE
from dbdyno.stats.comparison import SLOWER, log_ratios
from dbdyno.stats.sequential import MOST_PAIRS, Decision

FORMAT = 2
Judge = Callable[[Decided], Decided]


@dataclass(frozen=True)
class Measuring:
    """The settings that every step is measured with; options: those of the command, by name."""

    experiment: str
    margin: float
    comparisons: int
    budget_s: float
    out: Path
    quiet: bool
    console: Console
    options: Options

    def measure(self, sides: tuple[str, str], effect: float | None) -> Decided:
        """Run pairs of two builds until they are judged or the time is up.

        effect: the logarithm of the bad build over the good one; `None`: judge whether there is any effect, and go on
            until it is known well enough.
        Raises UserError or RunFailed if they cannot be measured, KeyboardInterrupt if a person ends it.
        """

        def judge(run: Run) -> list[Decided]:
            decided = decisions(run, self.margin, known_noise(run.path), self.comparisons)
            if effect is None:
                return decided
            return [_against_half(comparison, effect, self.comparisons) for comparison in decided]

        def judge_for_steps(run: Run) -> list[Decided]:
            return [_until_known(comparison) for comparison in judge(run)]

        rule = UntilDecided(judge_for_steps if effect is None else judge, time.monotonic() + self.budget_s)
        named = paired(self.experiment, sides, self.options)
        end = run_experiment(named, self.out, self.console, self.quiet, rule=rule)
        if end.state == "interrupted":
            raise KeyboardInterrupt
        (comparison,) = judge(read_run(end.folder))
        if comparison.outcome is None:
            return replace(comparison, outcome=INCONCLUSIVE, reason=_undecided(comparison))
        return replace(comparison, outcome=INCONCLUSIVE) if comparison.outcome == NOT_JUDGED else comparison


def _undecided(comparison: Decided) -> str:
    """Return that a step was not decided in its time, and what to do."""
    pairs = len(comparison.rates_per_s[0])
    option = "--budget" if pairs < MOST_PAIRS else "--seconds"
    return f"undecided after {pairs} pairs: raise {option}"


def _until_known(comparison: Decided) -> Decided:
    """Return a comparison as undecided while its effect is not known well enough."""
    if comparison.outcome != SLOWER or comparison.decision is None or bisection.is_known(comparison.decision):
        return comparison
    return replace(comparison, outcome=None)


def _against_half(comparison: Decided, effect: float, comparisons: int) -> Decided:
    if comparison.decision is None:
        return comparison
    decision = bisection.step(log_ratios(*comparison.rates_per_s).tolist(), effect, comparisons)
    return replace(comparison, decision=decision, outcome=decision.outcome)


@dataclass(frozen=True)
class Step:
    """One step: two builds by their indices in the list, and the outcome of the second."""

    places: tuple[int, int]
    outcome: str
    decision: Decision | None
    run: str | None
    reason: str | None = None

    @property
    def needs_longer_trials(self) -> bool:
        """True if it had all the pairs that a step may have, and these did not decide it."""
        return self.outcome == INCONCLUSIVE and self.decision is not None and self.decision.pairs >= MOST_PAIRS


class _KeptStep(TypedDict):
    """A step in the file."""

    outcome: str
    decision: JsonObject | None
    run: str | None
    reason: str | None
    budget_s: float


class Kept:
    """The measured steps, in a file, so that the same command continues where it ended."""

    def __init__(self, file: Path, request: Mapping[str, object], budget_s: float) -> None:
        """Read the file; raises UserError if it belongs to another request, or cannot be read or written.

        budget_s: the time that a step has. An inconclusive one that had less is measured again, unless it has all pairs
            that it may have.
        """
        self._file, self._request, self._budget_s = file, request, budget_s
        self._steps: dict[str, _KeptStep] = {}
        try:
            if file.is_file():
                self._read(read_object(file))
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{file}: {error.strerror}; choose another folder with --state") from None

    def _read(self, document: JsonObject) -> None:
        if document.get("format") != FORMAT or document.get("request") != self._request:
            raise UserError(
                f"{self._file}: belongs to another search; remove it, or choose another folder with --state"
            )
        self._steps = document["steps"]

    def find(self, places: tuple[int, int]) -> Step | None:
        """Return the step of two builds, if it was measured."""
        kept = self._steps.get(_key(places))
        if kept is None:
            return None
        decision = Decision(**kept["decision"]) if kept["decision"] else None
        step = Step(places, kept["outcome"], decision, kept["run"], kept["reason"])
        lacked_time = step.outcome == INCONCLUSIVE and not step.needs_longer_trials
        return None if lacked_time and kept["budget_s"] < self._budget_s else step

    def keep(self, step: Step) -> None:
        """Keep a step."""
        decision = asdict(step.decision) if step.decision else None
        self._steps[_key(step.places)] = {
            "outcome": step.outcome,
            "decision": decision,
            "run": step.run,
            "reason": step.reason,
            "budget_s": self._budget_s,
        }
        write_object(self._file, {"format": FORMAT, "request": self._request, "steps": self._steps})


def _key(places: tuple[int, int]) -> str:
    return f"{places[0]}..{places[1]}"


def measured(places: tuple[int, int], kept: Kept, measure: Callable[[], Decided], must_work: bool = False) -> Step:
    """Return a step, measured unless it is kept already.

    A build that cannot be made or started is inconclusive, and is tried again next time.
    must_work: raise instead.
    """
    if step := kept.find(places):
        return step
    try:
        comparison = measure()
    except DbdynoError as error:
        if must_work:
            raise UserError(f"no answer: {error}") from None
        return Step(places, INCONCLUSIVE, None, None, str(error))
    step = Step(
        places,
        str(comparison.outcome),
        comparison.decision,
        str(comparison.compared.candidate.run.path),
        comparison.reason,
    )
    if step.decision:
        kept.keep(step)
    return step
