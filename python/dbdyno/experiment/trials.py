"""An experiment expanded into preparations and trials, in the order they are run."""

import re
from dataclasses import dataclass
from itertools import product

from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec


@dataclass(frozen=True)
class Trial:
    """One execution of one cell: `name` is its folder's, `001-mariadb-game-c1`."""

    name: str
    system: SystemSpec
    workload: str
    clients: int
    repeat: int


@dataclass(frozen=True)
class Preparation:
    """One system started and loaded for one workload, and the trials run on it, in order; `name` is its folder's."""

    name: str
    system: SystemSpec
    workload: str
    repeat: int
    trials: tuple[Trial, ...]


def expand(experiment: Experiment, systems: list[SystemSpec]) -> list[Preparation]:
    """Return all preparations: for each repetition, for each of `systems`, for each workload, all numbers of clients.

    Every repetition is prepared anew, so that trials of one cell do not build on each other's changes.
    """
    preparations: list[Preparation] = []
    cells = product(range(1, experiment.repeat + 1), systems, experiment.workload)
    for number, (repeat, system, workload) in enumerate(cells):
        first = number * len(experiment.clients) + 1
        trials = tuple(
            Trial(f"{first + index:03d}-{_slug(system.label)}-{workload}-c{clients}", system, workload, clients, repeat)
            for index, clients in enumerate(experiment.clients)
        )
        name = f"{number + 1:02d}-{_slug(system.label)}"
        preparations.append(Preparation(name, system, workload, repeat, trials))
    return preparations


def _slug(label: str) -> str:
    """Return the label as a part of a folder's name: letters, digits, points and dashes, at most 40."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", label).strip("-")[:40].rstrip("-")
