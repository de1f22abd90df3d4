"""`dbdyno bisect`: which build in a list is the first slow one."""

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from dbdyno.cli.bisect_builds import Maker, builds_between, maker_of, titles_of
from dbdyno.cli.bisect_same import refuse_same_build
from dbdyno.cli.bisect_steps import Kept, Measuring, Step, measured
from dbdyno.cli.ci import paired
from dbdyno.cli.console import make_console
from dbdyno.cli.tolerant_output import outputs_may_end
from dbdyno.errors import UserError
from dbdyno.experiment.trials import cells_of
from dbdyno.report.cells import Compared, sides_of_run
from dbdyno.report.ci.decisions import Decided, interval_of
from dbdyno.report.comparison import compare_sides
from dbdyno.report.core import words
from dbdyno.report.core.terminal import say
from dbdyno.report.why.why import Why, evidence_of, print_why
from dbdyno.results.read import read_run
from dbdyno.stats.bisection import BAD, INCONCLUSIVE, SearchResult, most_steps, search
from dbdyno.stats.comparison import SLOWER
from dbdyno.stats.sequential import MOST_PAIRS, least_pairs

EXACT, NO_ANSWER, INTERRUPTED = 0, 2, 130
"""Exit statuses: the first slow build is known; only a range is known, or no build is slow; interrupted."""
FIRST_AND_LAST = 2
"""Steps beside those of the search: good against bad, and at the end the neighbours."""
_ANY_SYSTEMS = ("sqlite", "sqlite")
"""Stand-ins for the builds, to read the loads of an experiment before any build is made."""


@outputs_may_end()
def command(good: str, bad: str, experiment: str, quiet: bool, as_json: bool, **options: Any) -> int:
    """Search the builds for the first slow one, print it with the interval of its effect, and return the status."""
    state, repository = options["state"], options["repository"]
    builds = builds_between(good, bad, options["builds"], options["build"], repository)
    keys = ("margin", "clients", "seconds", "warmup", "scale", "rows", "seed")
    request = {"experiment": experiment, "build": options["build"], "set": list(options["set"]), "builds": builds}
    kept = Kept(state / "bisect.json", request | {key: options[key] for key in keys}, options["budget"])
    console = make_console(quiet=quiet or as_json)
    most = most_steps(len(builds)) + FIRST_AND_LAST
    asked = (experiment, options["margin"], most, options["budget"], options["out"], quiet or as_json)
    maker, titles = maker_of(options["build"], repository, state), titles_of(builds, options["build"], repository)
    searching = _Searching(builds, titles, kept, Measuring(*asked, console, options), maker)
    named = paired(experiment, _ANY_SYSTEMS, options)
    if len(cells_of(named.experiment)) != 1:
        raise UserError(f"{experiment}: has several loads, and a search needs one: give --clients 16, and one workload")
    least = least_pairs(most)
    least_s = 2 * least * (named.experiment.warmup_seconds + named.experiment.seconds)
    each = f"each {least} to {MOST_PAIRS} pairs, {words.duration(least_s)} of load or more"
    limit = f"about {words.duration(most * options['budget'])} in all at most"
    say(console, f"{len(builds)} builds: at most {most} steps, {each}; {limit}, without making the builds.")
    if options["dry_run"]:
        return EXACT
    try:
        return searching.conclude(as_json)
    except KeyboardInterrupt:
        click.echo(f"dbdyno: interrupted; the same command goes on from {state / 'bisect.json'}", err=True)
        return INTERRUPTED


class _Searching:
    """One search: its builds and their titles, the known outcomes, and the way to measure them."""

    def __init__(self, builds: list[str], titles: list[str], kept: Kept, measuring: Measuring, maker: Maker) -> None:
        self._builds, self._titles = builds, titles
        self._kept, self._measuring, self._maker = kept, measuring, maker
        self._systems: dict[int, str] = {}
        self._steps: list[Step] = []

    def conclude(self, as_json: bool) -> int:
        """Search, print the answer, and return the exit status."""
        last = len(self._builds) - 1
        whole = self._step((0, last), None, must_work=True)
        if whole.outcome != SLOWER or whole.decision is None:
            interval = f": {_interval(whole)}" if whole.decision else f": {whole.reason}"
            raise UserError(
                f"it is not certain that {self._titles[last]} is slower than {self._titles[0]}{interval}; "
                "raise --budget or --seconds, or lower --margin"
            )
        effect = math.log(whole.decision.ratio)
        result = search(len(self._builds), lambda build: self._step((0, build), effect).outcome)
        places = (result.last_good, result.first_bad)
        final = self._step(places, None) if result.is_exact else whole
        self._show(result, final, as_json)
        return EXACT if result.is_exact else NO_ANSWER

    def _step(self, places: tuple[int, int], effect: float | None, must_work: bool = False) -> Step:
        def measure() -> Decided:
            first, second = (self._system(build) for build in places)
            if must_work:
                refuse_same_build(first, second, [self._titles[build] for build in places])
            return self._measuring.measure((first, second), effect)

        step = measured(places, self._kept, measure, must_work)
        self._steps.append(step)
        interval = f" {_interval(step)}" if step.decision else ""
        reason = f" ({step.reason})" if step.reason else ""
        first, second = (self._titles[build] for build in places)
        text = f"{second} against {first}: {step.outcome}{interval}{reason}"
        say(self._measuring.console, text, "red" if step.outcome in (BAD, SLOWER) else "", hang=2)
        return step

    def _system(self, build: int) -> str:
        """Return the system of a build, made at most once."""
        if build not in self._systems:
            self._systems[build] = self._maker(self._builds[build])
        return self._systems[build]

    def _advice(self) -> str:
        """Return what to do about inconclusive steps."""
        if all(step.needs_longer_trials for step in self._steps if step.outcome == INCONCLUSIVE):
            return f"{MOST_PAIRS} pairs do not decide it: take longer trials (--seconds) and another --state"
        return "The same command with a larger --budget measures these again"

    def _show(self, result: SearchResult, final: Step, as_json: bool) -> None:
        good, bad = self._titles[result.last_good], self._titles[result.first_bad]
        if result.is_exact:
            sentence = f"First slow build: {bad}. Against {good}: {_interval(final)}"
        else:
            between = self._titles[result.last_good + 1 : result.first_bad + 1]
            sentence = (
                f"The first slow build is one of {', '.join(between)}: those before {bad} are inconclusive. "
                f"{self._advice()}"
            )
        if as_json:
            document = {
                "sentence": sentence,
                "last_good": self._builds[result.last_good],
                "first_bad": self._builds[result.first_bad],
                "exact": result.is_exact,
                "effect": final.decision and asdict(final.decision),
                "run": final.run,
                "steps": [
                    asdict(step) | {"builds": [self._builds[build] for build in step.places]} for step in self._steps
                ],
            }
            click.echo(json.dumps(document, ensure_ascii=False, indent=1))
            return
        console = make_console()
        say(console, sentence, "bold", hang=2)
        if final.run and final.decision:
            verdicts = compare_sides(sides_of_run(read_run(Path(final.run)), None), 0.0, 0.0, force=True)
            compared = self._titled(verdicts.cells[0], final.places)
            print_why([Why(compared, SLOWER, _interval(final), evidence_of(compared))], console)

    def _titled(self, compared: Compared, places: tuple[int, int]) -> Compared:
        """Return a comparison whose sides have the titles of their builds."""
        first, second = (self._titles[build] for build in places)
        sides = replace(compared.baseline, name=first), replace(compared.candidate, name=second)
        return replace(compared, baseline=sides[0], candidate=sides[1])


def _interval(step: Step) -> str:
    return words.UNKNOWN if step.decision is None else interval_of(step.decision)
