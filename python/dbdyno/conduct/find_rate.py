"""`--find-rate`: the search of rate_search.py, each of its questions answered by a trial on the store."""

from collections.abc import Iterator
from dataclasses import replace

from dbdyno.conduct.context import Context
from dbdyno.conduct.limits import time_of
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.rate_search import SearchResult, search
from dbdyno.conduct.trial import Prepared, run_trial
from dbdyno.experiment.limit import Limit
from dbdyno.experiment.trials import Trial, search_step
from dbdyno.results.json_types import SearchStated, StepStated
from dbdyno.results.model import Recorded
from dbdyno.results.read import read_trial

GUESS_SECONDS = 3
"""The closed loop a search begins with need not be longer: it only says where to begin."""


class _Broken(Exception):
    """A trial of the search failed or was cut short, so nothing can be concluded from it."""


def find_rate(context: Context, prepared: Prepared, first: Trial) -> Iterator[Outcome]:
    """Search for the highest rate that holds the experiment's limit; yields the outcome of each trial this took.

    first: the closed loop it begins with. A trial that fails, or an interrupt, ends the search with nothing found. That
    operations failed at some rate is a finding, not a failure of the run, so such an outcome is yielded without them.
    """
    limit = _limit_of(context)
    context.listener.search_begins(first, str(limit))
    searching = _Searching(context, prepared, first)
    result: SearchResult | None = None
    try:
        result = search(searching.guess_per_s(), searching.holds)
    except _Broken as broken:
        sentence = f"{searching.what}: the search ended without an answer: {broken}"
    else:
        sentence = conclude(searching.what, limit, result, searching.steps)
    context.journal.add_search(searching.stated(result, sentence))
    context.listener.search_ended(sentence)
    yield from searching.outcomes


class _Searching:
    """One search going on."""

    def __init__(self, context: Context, prepared: Prepared, first: Trial) -> None:
        self._context, self._prepared, self._first = context, prepared, first
        self._last = first
        self.outcomes: list[Outcome] = []
        self.steps: list[StepStated] = []
        self.what = f"{first.system.label}, {first.workload}, {first.clients} client{'s' if first.clients > 1 else ''}"

    def guess_per_s(self) -> float:
        """Run the closed loop; returns its throughput."""
        seconds = min(GUESS_SECONDS, self._context.experiment.seconds)
        shorter = self._context.experiment.model_copy(update={"seconds": seconds})
        outcome = self._run(replace(self._context, experiment=shorter), self._first)
        if not outcome.transactions:
            raise _Broken("the closed loop that it begins with completed nothing")
        return outcome.transactions / outcome.seconds

    def holds(self, rate_per_s: float, confirms: bool) -> bool:
        """Run one step."""
        trial = search_step(self._first, len(self.steps) + 1, rate_per_s)
        self._context.journal.add_trial(trial.name, self._last.name)
        self._last = trial
        outcome = self._run(self._context, trial)
        recorded = read_trial(self._context.folder.path / "trials" / trial.name).recorded
        step = judge_step(trial.name, rate_per_s, confirms, _limit_of(self._context), recorded)
        if step["holds"] and outcome.errors:
            step |= {"why_not": f"{sum(outcome.errors.values()):,} operations failed", "holds": False}
        self.steps.append(step)
        self._context.listener.step_ended(step)
        return step["holds"]

    def _run(self, context: Context, trial: Trial) -> Outcome:
        outcome = context.earlier.outcomes.get(trial.name) or run_trial(context, self._prepared, trial)
        complete = outcome.state == "complete"
        self.outcomes.append(replace(outcome, errors={}) if complete else outcome)
        if not complete:
            raise _Broken(f"{trial.name} {outcome.state}: {outcome.reason}")
        if context.interrupts.requested:
            raise _Broken("interrupted")
        return outcome

    def stated(self, result: SearchResult | None, sentence: str) -> SearchStated:
        """Return the search as `run.json` has it."""
        first = self._first
        return {
            "system": first.system.label,
            "workload": str(first.workload),
            "clients": first.clients,
            "repeat": first.repeat,
            "limit": str(self._context.experiment.find_rate),
            "first": first.name,
            "steps": self.steps,
            "found_rate_per_s": result.per_s if result else None,
            "fails_per_s": result.fails_per_s if result else None,
            "open_above": result.open_above if result else None,
            "sentence": sentence,
        }


def _limit_of(context: Context) -> Limit:
    assert context.experiment.find_rate is not None, "a search has a limit"
    return context.experiment.find_rate


def judge_step(trial: str, rate_per_s: float, confirms: bool, limit: Limit, recorded: Recorded) -> StepStated:
    """Return whether a trial at `rate_per_s` held `limit`: its response times, and that it did what was offered."""
    value_us, statistic = time_of(limit, recorded) if recorded.response_time else (None, limit.statistic)
    offered, achieved = recorded.offered_per_s or 0.0, recorded.throughput_per_s or 0.0
    if value_us is None:
        why_not = "no transaction was completed"
    elif value_us >= limit.limit_us:
        few = f" (too few transactions to tell {limit.statistic})" if statistic != limit.statistic else ""
        why_not = f"not below the limit{few}"
    elif not recorded.followed:
        why_not = f"{achieved:,.0f}/s achieved; {recorded.behind}"
    else:
        why_not = None
    return {
        "trial": trial,
        "rate_per_s": rate_per_s,
        "statistic": statistic,
        "value_us": value_us,
        "offered_per_s": offered,
        "achieved_per_s": achieved,
        "confirms": confirms,
        "why_not": why_not,
        "holds": why_not is None,
    }


def conclude(what: str, limit: Limit, result: SearchResult, steps: list[StepStated]) -> str:
    """Return the sentence a search ends with."""
    if result.per_s is None:
        lowest = min(step["rate_per_s"] for step in steps)
        return f"{what}: no rate holds {limit}, not even {lowest:,}/s."
    if result.open_above:
        return f"{what}: {limit} held at every rate tried, up to {result.per_s:,}/s. The highest rate is above that."
    said = f"{what}: {result.per_s:,}/s is the highest rate with {limit} ({_tries(result.per_s, steps)})"
    if result.fails_per_s is None:
        return f"{said}. Higher rates held in some tries only: the answer is noisy."
    between = sorted({step["rate_per_s"] for step in steps if result.per_s < step["rate_per_s"] < result.fails_per_s})
    noisy = f" Between them the tries differ ({', '.join(f'{rate:,}/s' for rate in between)})." if between else ""
    return f"{said}. {result.fails_per_s:,}/s fails ({_tries(result.fails_per_s, steps)}).{noisy}"


def _tries(rate_per_s: float, steps: list[StepStated]) -> str:
    """Return in how many of the tries a rate held."""
    tried = [step["holds"] for step in steps if step["rate_per_s"] == rate_per_s]
    return f"held in {sum(tried)} of {len(tried)} tries"
