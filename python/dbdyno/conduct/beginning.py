"""How a run begins: in a new folder, or where an earlier session left it (`resumption.py`)."""

import errno
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import cast

from dbdyno import __version__
from dbdyno.conduct.context import Context
from dbdyno.conduct.journal import Journal
from dbdyno.conduct.load_client import find_load_client
from dbdyno.conduct.resolve import Resolved, try_out
from dbdyno.errors import RunFailed
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.trials import Preparation, expand
from dbdyno.experiment.write import to_toml
from dbdyno.hosts.programs import programs
from dbdyno.observe.environment import data_directory, describe_host
from dbdyno.observe.gauges.measure import measure_host
from dbdyno.results.environment import Conditions, Environment, SessionConditions
from dbdyno.results.facts import RunFacts
from dbdyno.results.lock import locked
from dbdyno.results.noise import keep_noise, noise_file_of, read_noise
from dbdyno.results.write import FORMAT, RunFolder
from dbdyno.systems.running.guard import Guard

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Opened = tuple[RunFolder, Journal]


class Beginning(ABC):
    """The differences between a new run and a resumed one, in the order in which they are called."""

    @abstractmethod
    def choose(self, resolved: Resolved) -> Resolved:
        """Return the systems to run, of those that can be; raises UserError if one is missing."""

    @abstractmethod
    def plan(self, experiment: Experiment, resolved: Resolved) -> list[Preparation]:
        """Return all planned preparations in their order; raises UserError if they do not fit the folder."""

    @abstractmethod
    def try_out(
        self, experiment: Experiment, resolved: Resolved, preparations: list[Preparation], guard: Guard
    ) -> None:
        """Start and stop what could keep the run from its end; raises UserError or RunFailed for that."""

    @abstractmethod
    def opened(
        self, named: NamedExperiment, resolved: Resolved, preparations: list[Preparation]
    ) -> AbstractContextManager[Opened]:
        """Return the run's folder and its journal, which says that it runs; raises UserError or RunFailed."""

    def recall(self, context: Context, preparations: list[Preparation]) -> Context:
        """Return the context with what earlier sessions know."""
        del preparations
        return context

    @abstractmethod
    def describe(self, context: Context) -> Environment:
        """Record the host and what else a folder begins with; returns `environment.json`."""


class NewRun(Beginning):
    """A run in its own folder, below `parent`; command: what a person types to repeat it."""

    def __init__(self, parent: Path, command: str) -> None:
        self._parent, self._command = parent, command
        self._floors = read_noise()

    def choose(self, resolved: Resolved) -> Resolved:
        return resolved

    def plan(self, experiment: Experiment, resolved: Resolved) -> list[Preparation]:
        return expand(experiment, resolved.systems)

    def try_out(
        self, experiment: Experiment, resolved: Resolved, preparations: list[Preparation], guard: Guard
    ) -> None:
        try_out(experiment, resolved, guard)

    @contextmanager
    def opened(self, named: NamedExperiment, resolved: Resolved, preparations: list[Preparation]) -> Iterator[Opened]:
        folder = RunFolder.create(self._parent, named.name, time.time())
        with locked(folder.path):
            with recording(folder.path):
                journal = Journal(folder, _describe_run(named, self._command, folder.name, preparations, resolved))
            yield folder, journal

    def describe(self, context: Context) -> Environment:
        context.folder.write_experiment(to_toml(context.experiment))
        described = cast(Environment, describe_session(context))
        context.folder.write_environment(described)
        if known := [floor for floor in self._floors if floor.host == described["host"]]:
            keep_noise(known, noise_file_of(context.folder.path))
        return described


@contextmanager
def recording(folder: Path) -> Iterator[None]:
    """Raise RunFailed if not even the beginning can be written into a run's folder."""
    try:
        yield
    except OSError as error:
        raise RunFailed(f"{folder}: {say_of(error)}") from None


def say_of(error: OSError) -> str:
    """Return what an error of the system means for a run; only a full disk is helped by free space."""
    what = f"{error.strerror or error}: {error.filename}" if error.filename else f"{error.strerror or error}"
    if error.errno in _FULL:
        return f"{what}: nothing more can be recorded; free some space or choose another folder with --out"
    return f"{what}: the run could not go on"


def describe_session(context: Context) -> SessionConditions:
    """Describe host and programs and, before anything that this could disturb, measure what the host does."""
    measured = measure_host(data_directory()) if context.experiment.host else None
    return {**describe_conditions(), "measured": measured}


def describe_conditions() -> Conditions:
    """Return the host's facts, and which load client issues the load."""
    return {**describe_host(), "dbdyno_load_sha256": programs(find_load_client())["dbdyno_load"]}


def _describe_run(
    named: NamedExperiment, command: str, name: str, preparations: list[Preparation], resolved: Resolved
) -> RunFacts:
    return RunFacts(
        format=FORMAT,
        dbdyno=__version__,
        run=name,
        experiment=named.name,
        question=named.experiment.question,
        look_for=named.experiment.look_for,
        command=command,
        started_unix_s=time.time(),
        state="running",
        systems=[system.label for system in resolved.systems],
        workloads=[str(workload) for workload in named.experiment.workload],
        order="randomised ABBA blocks" if named.experiment.prepared_alone else "as written",
        seed=named.experiment.seed,
        trials=[trial.name for preparation in preparations for trial in preparation.trials],
        skipped=[{"system": spec.label, "reason": reason} for spec, reason in resolved.skipped],
    )
