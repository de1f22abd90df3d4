"""A run: all trials of one experiment, in one folder."""

import errno
import time
from collections.abc import Iterable
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from dbdyno import __version__
from dbdyno.conduct.context import Context
from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.journal import Journal
from dbdyno.conduct.limits import judge_limits
from dbdyno.conduct.listener import Listener, Outcome
from dbdyno.conduct.load_client import find_load_client
from dbdyno.conduct.pairs import Rule, more_pairs
from dbdyno.conduct.preparation import run_preparation
from dbdyno.conduct.profile import announce
from dbdyno.conduct.resolve import Resolved, resolve, try_out
from dbdyno.errors import DbdynoError, RunFailed, UserError
from dbdyno.experiment.limits import MostErrors
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.trials import Preparation, expand
from dbdyno.experiment.write import to_toml
from dbdyno.hosts.crew import Crew
from dbdyno.observe.delay_accounting import account_delays
from dbdyno.observe.environment import data_directory, describe_host
from dbdyno.observe.gauges.measure import measure_host
from dbdyno.results.noise import NoiseFloor, keep_noise, noise_file_of, read_noise
from dbdyno.results.write import FORMAT, RunFolder
from dbdyno.systems.running.guard import Guard

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class RunEnd:
    """How a run ended: `state` as in `run.json`, and why where it is not `complete`."""

    folder: Path
    state: str
    reason: str | None


def conduct(named: NamedExperiment, command: str, parent: Path, listener: Listener, rule: Rule | None = None) -> RunEnd:
    """Run an experiment and record it in a new folder in `parent`.

    command: what a person types to repeat it, passwords taken out. rule: which comparisons need more pairs.
    Raises UserError if it cannot be begun as asked, RunFailed if it cannot be recorded.
    """
    program = find_load_client()
    floors = read_noise()
    resolved = resolve(named.experiment)
    if named.experiment.precise is not None and len(resolved.systems) < 2:
        raise UserError("precise: there is one system and nothing to compare it with; give two, or see `dbdyno aa`")
    preparations = expand(named.experiment, resolved.systems)
    crew = Crew(named.experiment.hosts, program) if named.experiment.hosts else None
    with Interrupts() as interrupts, crew or nullcontext(), Guard() as guard:
        if crew:
            with interrupts.noted():
                crew.wait(lambda: interrupts.requested)
        if named.experiment.observe:
            account_delays(guard.switch_on)
        try_out(named.experiment, resolved, guard)
        with interrupts.noted():
            folder = RunFolder.create(parent, named.name, time.time())
            journal = _begin(folder, _describe_run(named, command, folder.name, preparations, resolved))
        context = Context(named.experiment, folder, guard, interrupts, listener, journal, resolved.lineup, crew=crew)
        try:
            if interrupts.requested:
                raise KeyboardInterrupt
            with closing(context.states):
                return _record(context, preparations, resolved, floors, rule)
        except OSError as error:
            reason = _say_of(error)
            # A disk that is full takes no such word either.
            with suppress(OSError):
                journal.end("failed", reason)
            raise RunFailed(f"{folder.path}: {reason}. What was recorded is there.") from None
        except KeyboardInterrupt:
            interrupts.only_note()
            journal.end("interrupted", "by the user")
            return RunEnd(folder.path, "interrupted", "by the user")


def _begin(folder: RunFolder, document: dict[str, Any]) -> Journal:
    """Return the journal of a run that begins; raises RunFailed if not even that can be written."""
    try:
        return Journal(folder, document)
    except OSError as error:
        raise RunFailed(f"{folder.path}: {_say_of(error)}") from None


def _say_of(error: OSError) -> str:
    """Return what an error of the system means for a run; only a full disk is helped by free space."""
    what = f"{error.strerror or error}: {error.filename}" if error.filename else f"{error.strerror or error}"
    if error.errno in _FULL:
        return f"{what}: nothing more can be recorded; free some space or choose another folder with --out"
    return f"{what}: the run could not go on"


def _describe_run(
    named: NamedExperiment, command: str, name: str, preparations: list[Preparation], resolved: Resolved
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "dbdyno": __version__,
        "run": name,
        "experiment": named.name,
        "question": named.experiment.question,
        "look_for": named.experiment.look_for,
        "command": command,
        "started_unix_s": time.time(),
        "ended_unix_s": None,
        "state": "running",
        "reason": None,
        "systems": [system.label for system in resolved.systems],
        "workloads": [str(workload) for workload in named.experiment.workload],
        "order": "randomised ABBA blocks" if named.experiment.prepared_alone else "as written",
        "seed": named.experiment.seed,
        "trials": [trial.name for preparation in preparations for trial in preparation.trials],
        "skipped": [{"system": spec.label, "reason": reason} for spec, reason in resolved.skipped],
    }


def _record(
    context: Context,
    preparations: list[Preparation],
    resolved: Resolved,
    floors: list[NoiseFloor],
    rule: Rule | None,
) -> RunEnd:
    """Write what the folder begins with, run everything, and write how it ended."""
    folder = context.folder
    folder.write_experiment(to_toml(context.experiment))
    described = _describe_host(context)
    folder.write_environment(described)
    if known := [floor for floor in floors if floor.host == described["host"]]:
        keep_noise(known, noise_file_of(folder.path))
    trial_s = context.experiment.warmup_seconds + context.experiment.seconds
    context.listener.run_begins(folder.path, sum(len(preparation.trials) for preparation in preparations), trial_s)
    announce(context)
    for spec, reason in resolved.skipped:
        context.listener.system_is_skipped(spec.label, reason)
    planned = chain(preparations, more_pairs(context, resolved.systems, preparations, rule))
    state, why = _run_all(context, planned)
    if limits := judge_limits(context, context.journal.trials):
        context.journal.add_limits(limits)
    if described["measured"] and not context.interrupts.requested:
        folder.write_environment(described | {"measured_after": measure_host(data_directory())})
    context.interrupts.only_note()
    context.journal.end(state, why)
    return RunEnd(folder.path, state, why)


def _describe_host(context: Context) -> dict[str, Any]:
    """Describe the host and, before anything that this could disturb, measure what it does."""
    described = describe_host()
    return described | {"measured": measure_host(data_directory()) if context.experiment.host else None}


def _run_all(context: Context, preparations: Iterable[Preparation]) -> tuple[str, str | None]:
    """Run everything and return the run's state and why; one system that ends badly does not stop the others."""
    outcomes: list[Outcome] = []
    problems: list[str] = []
    for preparation in preparations:
        try:
            outcomes.extend(run_preparation(context, preparation))
        except DbdynoError as error:
            problems.append(str(error))
        except KeyboardInterrupt:
            return judge_run(outcomes, problems, True)
        if context.interrupts.requested:
            break
    if any(isinstance(bound, MostErrors) for bound in context.experiment.limits):
        # How many operations may fail is then the limit's to say.
        outcomes = [replace(outcome, errors={}) for outcome in outcomes]
    return judge_run(outcomes, problems, context.interrupts.requested)


def judge_run(outcomes: list[Outcome], problems: list[str], interrupted: bool) -> tuple[str, str | None]:
    """Return a run's state and why; complete is only one whose every trial ran and every answer was right."""
    if interrupted:
        return "interrupted", "by the user"
    if problems:
        return "failed", problems[0]
    if failed := [outcome for outcome in outcomes if outcome.state != "complete"]:
        return "failed", f"{len(failed)} of {len(outcomes)} trials failed; the first: {failed[0].reason}"
    if wrong := [outcome for outcome in outcomes if not outcome.right]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in wrong[0].errors.items())
        return "failed", f"operations failed in {len(wrong)} of {len(outcomes)} trials; in the first: {kinds}"
    return "complete", None
