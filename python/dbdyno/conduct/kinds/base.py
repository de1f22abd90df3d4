"""The interface of every kind of workload: what it refuses, how it loads, and how it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from dbdyno.conduct.context import Context
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.loading import Loaded, load_rows, loading_clients, remove_rows
from dbdyno.conduct.trial import Prepared
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.trials import Preparation, Trial
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.systems.base import System
from dbdyno.systems.running.kept_data import SPARE_ROOM
from dbdyno.systems.running.volume import Volume
from dbdyno.systems.space import Space


class WorkloadKind(ABC):
    """One way to conduct a workload. It holds no state: all that a run knows is in its context.

    errors_count: True if each operation that fails is an error of the trial.
    divides: True if several hosts can issue its load, each a part.
    measures_load: True if each repetition loads anew, because the load is part of what is measured.
    """

    errors_count: ClassVar[bool] = False
    divides: ClassVar[bool] = False
    measures_load: ClassVar[bool] = False

    def refuse(self, experiment: Experiment, workload: WorkloadSpec) -> None:
        """Raise UserError if the experiment asks for what this kind does not have."""
        return

    def refuse_system(self, workload: WorkloadSpec, system: System) -> None:
        """Raise UserError if a system cannot have this workload, although it has all operations."""
        return

    def missing(self, workload: WorkloadSpec, system: System) -> str | None:
        """Return which program the workload needs that is not installed, and how to get it; None if all are there."""
        del workload, system
        return None

    def space(self, experiment: Experiment, workload: WorkloadSpec, system: System) -> Space:
        """Return the room that the workload takes in a system; none if rows of an unknown size are somebody's own."""
        rows = experiment.rows
        needed = system.space(workload.records(rows), workload.data_bytes(rows) or 0)
        # A restart is from a copy of what was loaded (`Kept.has_room`).
        return Space(needed.disk_bytes * (1 + SPARE_ROOM), needed.memory_bytes) if experiment.restart else needed

    def make_volume(self, context: Context, workload: WorkloadSpec) -> Volume | None:
        """Return the file system that the data must lie on, if it cannot be any."""
        del context, workload
        return None

    def load(self, context: Context, preparation: Preparation, system: System, folder: Path) -> Loaded:
        """Make and fill the tables, recorded in `folder`; returns the facts that this adds.

        Raises RunFailed if they cannot be loaded, KeyboardInterrupt if the run was interrupted.
        """
        return load_rows(context, preparation, system, folder, loading_clients())

    def remove(self, context: Context, preparation: Preparation, system: System, folder: Path) -> None:
        """Remove from an attached store what was made there; raises RunFailed if something is left."""
        remove_rows(context, preparation, system, folder)

    @abstractmethod
    def run(self, context: Context, prepared: Prepared, trial: Trial) -> Iterator[Outcome]:
        """Run a trial, or the search that begins with it, and yield each outcome."""


def refuse_keys(asked: Mapping[str, bool], why: str) -> None:
    """Raise UserError for the first key that is given; why: the reason that none is possible."""
    for key, is_asked in asked.items():
        if is_asked:
            raise UserError(f"{key}: {why}: leave {key} out")


def refuse_load(experiment: Experiment, why: str) -> None:
    """Raise UserError if an experiment asks for what only the load of clients has.

    why: the reason this kind does not.
    """
    asked = {
        "workload": len({workload.name for workload in experiment.workload}) > 1,
        "clients": experiment.clients != [1],
        "pipeline": experiment.pipeline != [1],
        "rate": bool(experiment.rate or experiment.find_rate),
        "precise": experiment.precise is not None,
        "confirm_limit": experiment.confirm_limit,
        "profile": bool(experiment.profile),
    }
    refuse_keys(asked, why)
