"""`dbdyno ci`: is the head of a pull request slower than its base."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from dbdyno.cli.console import make_console
from dbdyno.cli.export import write
from dbdyno.cli.options import Options
from dbdyno.cli.overrides import overrides_of
from dbdyno.cli.running import continue_run, exit_status, run_experiment
from dbdyno.cli.tolerant_output import outputs_may_end
from dbdyno.cli.until_decided import UntilDecided
from dbdyno.conduct.run import RunEnd
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.clients import NATIVE
from dbdyno.experiment.read import NamedExperiment, read_experiment
from dbdyno.experiment.redact import redact
from dbdyno.experiment.trials import cells_of
from dbdyno.export.ci import ci_files
from dbdyno.observe.doctor import examine
from dbdyno.observe.environment import data_directory
from dbdyno.report.ci.decisions import BASE, HEAD, Decided, ci_document, decisions, ended, print_decisions
from dbdyno.report.core import words
from dbdyno.report.core.terminal import say
from dbdyno.report.html import write_report
from dbdyno.results.model import Run
from dbdyno.results.noise import known_noise
from dbdyno.results.read import read_run
from dbdyno.stats.comparison import FASTER, SLOWER
from dbdyno.stats.sequential import FIRST_PAIRS, SAME, UNSTABLE, least_pairs

CLEAR, FOUND, NO_ANSWER = 0, 1, 2
"""Exit statuses: nothing is slower, something is slower, a comparison has no answer."""
_NOT_OFFERED = ("rate", "find_rate", "pipeline", "precise", "until_flat", "profile")


@dataclass(frozen=True)
class Asked:
    """How to compare: `budget_s` is for all experiments together."""

    margin: float
    budget_s: float
    out: Path
    quiet: bool


@outputs_may_end()
def command(base: str, head: str, experiments: tuple[str, ...], report: Path, quiet: bool, **options: Any) -> int:
    """Measure pairs of base and head until all is decided, write the four files, and return the exit status."""
    console = make_console(quiet=quiet)
    named = [paired(experiment, (base, head), options) for experiment in experiments]
    asked = Asked(options["margin"], options["budget"], options["out"], quiet)
    host = _look_at_host(options["unfit_host"], console)
    _tell_cost(named, asked, console)
    try:
        runs, decided, interrupted = _measure(named, asked, console)
    except RunFailed as failure:
        # Status 1 would say that the head is slower.
        raise UserError(f"no answer: {failure}") from None
    status = status_of(decided, options["allow_unstable"])
    if decided:
        document = ci_document(decided, asked.margin, host, status)
        _write(report, ci_files(decided, runs, document, (redact(base), redact(head))), console)
        print_decisions(decided, asked.margin, console)
    return interrupted or status


def paired(experiment: str, sides: tuple[str, str], options: Options) -> NamedExperiment:
    """Return an experiment with base and head as its systems, repeated as often as a decision takes at least.

    Raises UserError if it is none, or an open loop, whose throughput is the requested rate.
    """
    systems = [{"system": spec, "label": label} for spec, label in zip(sides, (BASE, HEAD), strict=True)]
    asked = dict.fromkeys(_NOT_OFFERED) | options
    asked |= {"system": systems, "repeat": max(FIRST_PAIRS, options["repeat"] or 0)}
    # One side alone would be measured for nothing, and a sweep that ends early leaves loads without a pair.
    whole = {"client": NATIVE, "precise": None, "until_flat": None, "if_missing": "error"}
    named = read_experiment(experiment, {**overrides_of(asked), **whole})
    if named.experiment.rate or named.experiment.find_rate:
        raise UserError(f"{experiment}: is an open loop, whose throughput is the requested rate; name a closed one")
    if len(named.experiment.variants) > 1:
        key = next(iter(named.experiment.system[0].variant.given))
        raise UserError(f"{experiment}: varies {key}; base and head need one value, e.g. --set {key}=…")
    return named


def _look_at_host(unfit_host: str, console: Console) -> tuple[str, ...]:
    """Return what spoils a measurement on this host; raises UserError if that is to be refused."""
    problems = [finding for finding in examine(data_directory(), profile=False) if finding.spoils and not finding.fine]
    if problems and unfit_host == "refuse":
        raise UserError(
            f"this host is unfit: {problems[0].what}; {problems[0].advice}. Measure anyway: --unfit-host warn"
        )
    for finding in problems:
        say(console, f"This host: {finding.what}; {finding.advice}", "yellow", hang=2)
    return tuple(finding.what for finding in problems)


def _comparisons(experiments: Sequence[NamedExperiment]) -> int:
    return sum(len(cells_of(named.experiment)) for named in experiments)


def _tell_cost(experiments: Sequence[NamedExperiment], asked: Asked, console: Console) -> None:
    count = _comparisons(experiments)
    pairs = least_pairs(count)
    least_s = pairs * sum(_pass_s(named) for named in experiments)
    comparisons = f"{count} comparison{'' if count == 1 else 's'}"
    least = f"at least {pairs} pairs each, {words.duration(least_s)} of load beside starting and loading"
    say(console, f"{comparisons}: {least}; about {words.duration(asked.budget_s)} at most.")
    if least_s > asked.budget_s:
        say(console, "The budget is too small for that. Raise --budget, or lower --seconds or --clients.", "yellow")


def _pass_s(named: NamedExperiment) -> float:
    """Return how long the load of one pair of each comparison of an experiment lasts."""
    return 2 * len(cells_of(named.experiment)) * (named.experiment.warmup_seconds + named.experiment.seconds)


def _measure(
    experiments: Sequence[NamedExperiment], asked: Asked, console: Console
) -> tuple[list[Run], list[Decided], int]:
    """Run the experiments one after the other; each has its share of the time that those before it left.

    The time that is left at the end goes to the undecided ones.
    Returns the runs, the decisions, and the exit status of an interruption, else 0.
    """
    ends_s, comparisons = time.monotonic() + asked.budget_s, _comparisons(experiments)

    def judge(run: Run) -> list[Decided]:
        return decisions(run, asked.margin, known_noise(run.path), comparisons)

    rules = [UntilDecided(judge, ends_s) for _ in experiments]
    ends: list[RunEnd] = []
    for done, (named, rule) in enumerate(zip(experiments, rules, strict=True)):
        rule.ends_s = share_ends_s(ends_s, experiments[done:])
        ends.append(run_experiment(named, asked.out, console, asked.quiet, rule=rule))
        if ends[-1].state == "interrupted":
            break
    else:
        _continue_undecided(experiments, rules, ends, ends_s, asked, console)
    runs = [read_run(end.folder) for end in ends]
    for run in runs:
        write_report(run, run.path / "report.html")
    whole = [run for run, end in zip(runs, ends, strict=True) if end.state != "interrupted"]
    interrupted = next((exit_status(end) for end in ends if end.state == "interrupted"), 0)
    return runs, [decided for run in whole for decided in ended(judge(run), asked.margin, comparisons)], interrupted


def _continue_undecided(
    experiments: Sequence[NamedExperiment],
    rules: Sequence[UntilDecided],
    ends: list[RunEnd],
    ends_s: float,
    asked: Asked,
    console: Console,
) -> None:
    """Share the time that is left among the experiments that are undecided, until it is up; changes `ends`."""

    def open_ones() -> list[int]:
        return [
            index
            for index, (rule, end) in enumerate(zip(rules, ends, strict=True))
            if end.state == "complete" and rule.has_time(ends_s) and rule.is_undecided(end.folder)
        ]

    while undecided := open_ones():
        for done, index in enumerate(undecided):
            named, rule = experiments[index], rules[index]
            rule.ends_s = share_ends_s(ends_s, [experiments[other] for other in undecided[done:]])
            if not rule.has_time(rule.ends_s):
                continue
            say(console, f"{named.name}: undecided; it gets the time that is left", "dim")
            ends[index] = continue_run(ends[index].folder, named, console, asked.quiet, rule)
            if ends[index].state == "interrupted":
                return


def share_ends_s(ends_s: float, experiments: Sequence[NamedExperiment]) -> float:
    """Return when the first of these has had its share of the time that is left: as large as its share of the load."""
    now_s, passes_s = time.monotonic(), [_pass_s(named) for named in experiments]
    return now_s + (ends_s - now_s) * passes_s[0] / sum(passes_s)


def status_of(decided: Sequence[Decided], allow_unstable: bool) -> int:
    """Return the exit status: something is slower, or a comparison has no answer, or all is clear."""
    outcomes = {comparison.outcome for comparison in decided}
    if SLOWER in outcomes:
        return FOUND
    answers = {SAME, FASTER} | ({UNSTABLE} if allow_unstable else set())
    return CLEAR if outcomes <= answers else NO_ANSWER


def _write(directory: Path, files: dict[str, str], console: Console) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{directory}: cannot be made: {error.strerror}; choose another with --report") from None
    for name, content in files.items():
        write(directory / name, content.encode())
    console.print(f"Written to {directory}: {', '.join(files)}", soft_wrap=True)
