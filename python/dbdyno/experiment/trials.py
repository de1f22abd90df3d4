"""An experiment expanded into preparations and trials, in the order they are run."""

import re
from dataclasses import dataclass, replace
from itertools import product

from dbdyno.experiment.model import Experiment
from dbdyno.experiment.rate import Rate
from dbdyno.experiment.system_spec import SystemSpec


@dataclass(frozen=True)
class Trial:
    """One execution of one cell: `name` is its folder's, `001-mariadb-game-c1`.

    rate: of the open loop, or None for a closed one. pipeline: requests a client sends at once.
    step: which step of a rate search it is, from 1; 0 of the closed loop that a search begins with; else None.
    """

    name: str
    system: SystemSpec
    workload: str
    clients: int
    repeat: int
    rate: Rate | None = None
    pipeline: int = 1
    step: int | None = None


@dataclass(frozen=True)
class Preparation:
    """One system started and loaded for one workload, and the trials run on it, in order; `name` is its folder's."""

    name: str
    system: SystemSpec
    workload: str
    repeat: int
    trials: tuple[Trial, ...]


def expand(experiment: Experiment, systems: list[SystemSpec]) -> list[Preparation]:
    """Return all preparations: for each repetition, for each of `systems`, for each workload, all its loads.

    Loads are pipelines × rates × clients, the last changing first. Every repetition is prepared anew, so that trials of
    one cell do not build on each other's changes. Of a rate search these are the closed loops it begins with.
    """
    preparations: list[Preparation] = []
    cells = product(range(1, experiment.repeat + 1), systems, experiment.workload)
    loads = list(product(experiment.pipeline, experiment.rate or [None], experiment.clients))
    step = 0 if experiment.find_rate else None
    for number, (repeat, system, workload) in enumerate(cells):
        prefix = f"{_slug(system.label)}-{workload}"
        trials = tuple(
            Trial(
                f"{number * len(loads) + index:03d}-{prefix}-{_load_slug(clients, rate, pipeline)}",
                *(system, workload, clients, repeat, rate, pipeline, step),
            )
            for index, (pipeline, rate, clients) in enumerate(loads, 1)
        )
        name = f"{number + 1:02d}-{_slug(system.label)}"
        preparations.append(Preparation(name, system, workload, repeat, trials))
    return preparations


def search_step(first: Trial, step: int, per_s: float) -> Trial:
    """Return the trial of one step of a rate search: `first`, the closed loop it began with, at a constant rate."""
    rate = Rate("constant", (per_s,))
    return replace(first, name=f"{first.name}-s{step:02d}-{rate.slug}", rate=rate, step=step)


def _load_slug(clients: int, rate: Rate | None, pipeline: int) -> str:
    """Return the load as a part of a folder's name: `c16`, `c16-p8-r20000`."""
    return f"c{clients}" + (f"-p{pipeline}" if pipeline > 1 else "") + (f"-{rate.slug}" if rate else "")


def _slug(label: str) -> str:
    """Return the label as a part of a folder's name: letters, digits, points and dashes, at most 40."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", label).strip("-")[:40].rstrip("-")
