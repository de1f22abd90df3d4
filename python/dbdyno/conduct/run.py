"""A run: all trials of one experiment, in one folder."""

from collections.abc import Iterable
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import fmean

from dbdyno.conduct.beginning import Beginning, NewRun, say_of
from dbdyno.conduct.context import Context
from dbdyno.conduct.hosts_ready import check_hosts
from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.limits import judge_limits
from dbdyno.conduct.listener import Listener, Outcome
from dbdyno.conduct.load_client import find_load_client
from dbdyno.conduct.pairs import Rule, more_pairs
from dbdyno.conduct.preparation import run_preparation
from dbdyno.conduct.profile import announce
from dbdyno.conduct.resolve import CannotDo, Resolved, resolve
from dbdyno.errors import DbdynoError, RunFailed, UserError
from dbdyno.experiment.limits import MostErrors
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.trials import Preparation
from dbdyno.hosts.crew import Crew
from dbdyno.observe.delay_accounting import account_delays
from dbdyno.observe.environment import data_directory
from dbdyno.observe.gauges.measure import measure_host
from dbdyno.systems.running.guard import Guard


@dataclass(frozen=True)
class RunEnd:
    """How a run ended: `state` as in `run.json`, and why if it is not `complete`.

    build_replaced: a trial failed because its build was replaced.
    """

    folder: Path
    state: str
    reason: str | None
    build_replaced: bool = False


class NotRecorded(RunFailed):
    """A run ended because its folder took no more. folder: the run's."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(f"{folder}: {reason}. What was recorded is there.")
        self.folder = folder


def conduct(named: NamedExperiment, command: str, parent: Path, listener: Listener, rule: Rule | None = None) -> RunEnd:
    """Run an experiment and record it in a new folder in `parent`.

    command: what a person types to repeat it, passwords taken out. rule: which comparisons need more pairs.
    Raises UserError if it cannot be begun as asked, RunFailed if it cannot be recorded.
    """
    return conduct_from(NewRun(parent, command), named, listener, rule)


def conduct_from(beginning: Beginning, named: NamedExperiment, listener: Listener, rule: Rule | None = None) -> RunEnd:
    """Run what a beginning leaves to run of an experiment; raises as `conduct` does."""
    program = find_load_client()
    try:
        resolved = beginning.choose(resolve(named.experiment))
    except CannotDo as error:
        raise UserError(f"{named.place_of(error.workload, error.operation)}{error}") from None
    if named.experiment.precise is not None and len(resolved.systems) < 2:
        raise UserError("precise: there is one system and nothing to compare it with; give two, or see `dbdyno aa`")
    preparations = beginning.plan(named.experiment, resolved)
    crew = Crew(named.experiment.hosts, program) if named.experiment.hosts else None
    with Interrupts() as interrupts, crew or nullcontext(), Guard() as guard, ExitStack() as opened:
        if crew:
            with interrupts.noted():
                members = crew.wait(lambda: interrupts.requested)
            check_hosts(named.experiment, resolved, crew, members)
        if named.experiment.observe:
            account_delays(guard.switch_on)
        beginning.try_out(named.experiment, resolved, preparations, guard)
        with interrupts.noted():
            folder, journal = opened.enter_context(beginning.opened(named, resolved, preparations))
        context = Context(named.experiment, folder, guard, interrupts, listener, journal, resolved.lineup, crew=crew)
        context = beginning.recall(context, preparations)
        try:
            if interrupts.requested:
                raise KeyboardInterrupt
            with closing(context.states):
                return _record(context, beginning, preparations, resolved, rule)
        except OSError as error:
            reason = say_of(error)
            # A disk that is full takes no such word either.
            with suppress(OSError):
                journal.end("failed", reason)
            raise NotRecorded(folder.path, reason) from None
        except KeyboardInterrupt:
            interrupts.only_note()
            journal.end("interrupted", "by the user")
            return RunEnd(folder.path, "interrupted", "by the user")


def _record(
    context: Context, beginning: Beginning, preparations: list[Preparation], resolved: Resolved, rule: Rule | None
) -> RunEnd:
    """Write what the folder begins with, run everything, and write how it ended."""
    folder = context.folder
    described = beginning.describe(context)
    trials = [trial for preparation in preparations for trial in preparation.trials]
    lengths_s = [own.warmup_seconds + own.seconds for own in (context.experiment.of(trial.system) for trial in trials)]
    trial_s = round(fmean(lengths_s))
    left = sum(not context.earlier.is_complete(trial) for trial in trials)
    context.listener.run_begins(folder.path, left, trial_s)
    if left < len(trials):
        context.listener.said(f"resumed: {len(trials) - left} of {len(trials)} trials are complete and kept")
    announce(context)
    for spec, reason in resolved.skipped:
        context.listener.system_is_skipped(spec.label, reason)
    planned = chain(preparations, more_pairs(context, resolved.systems, preparations, rule))
    state, why, build_replaced = _run_all(context, planned)
    if limits := judge_limits(context, context.journal.trials):
        context.journal.add_limits(limits)
    if described["measured"] and not context.interrupts.requested:
        folder.write_environment({**described, "measured_after": measure_host(data_directory())})
    context.interrupts.only_note()
    context.journal.end(state, why)
    return RunEnd(folder.path, state, why, build_replaced)


def _run_all(context: Context, preparations: Iterable[Preparation]) -> tuple[str, str | None, bool]:
    """Run everything; one system that ends badly does not stop the others.

    Returns the run's state and why, and whether a build was replaced.
    """
    outcomes: list[Outcome] = []
    problems: list[str] = []
    for preparation in preparations:
        try:
            outcomes.extend(run_preparation(context, preparation))
        except DbdynoError as error:
            problems.append(str(error))
        except KeyboardInterrupt:
            return (*judge_run(outcomes, problems, True), False)
        if context.interrupts.requested:
            break
    limited = any(isinstance(bound, MostErrors) for bound in context.experiment.limits)
    # Operations fail while an event has taken the server away.
    if limited or any(event.is_outage for event in context.experiment.events):
        # How many operations may fail is then the limit's to say.
        outcomes = [replace(outcome, errors={}) for outcome in outcomes]
    replaced = any(outcome.build_replaced for outcome in outcomes)
    return (*judge_run(outcomes, problems, context.interrupts.requested), replaced)


def judge_run(outcomes: list[Outcome], problems: list[str], interrupted: bool) -> tuple[str, str | None]:
    """Return a run's state and why; complete is only one whose every trial ran and every answer was right.

    problems: those of preparations, such as what is left on somebody else's server. They do not hide what trials saw.
    """
    if interrupted:
        return "interrupted", "; ".join(["by the user", *problems[:1]])
    if failed := [outcome for outcome in outcomes if outcome.state != "complete"]:
        first = f"{len(failed)} of {len(outcomes)} trials failed; the first: {failed[0].reason}"
        return "failed", "; ".join([first, *problems[:1]])
    if problems:
        return "failed", problems[0]
    if wrong := [outcome for outcome in outcomes if not outcome.right]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in wrong[0].errors.items())
        return "failed", f"operations failed in {len(wrong)} of {len(outcomes)} trials; in the first: {kinds}"
    return "complete", None
