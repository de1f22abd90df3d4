"""An experiment expanded into preparations and trials, in the order they are run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from dbdyno.experiment.model import Experiment
from dbdyno.experiment.order import abba_order
from dbdyno.experiment.rate import Rate
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workload_spec import WorkloadSpec, own_options


@dataclass(frozen=True)
class Trial:
    """One execution of one cell: `name` is its folder's, `001-mariadb-game-c1`.

    rate: of the open loop, or None for a closed one. clients: 0 of a share of capacity, until that is measured; it has
    then those the capacity was reached with. pipeline: requests a client sends at once.
    network_delay_us: that a client waits between an answer and its next request.
    step: which step of a rate search it is, from 1; 0 of the closed loop that a search begins with; else None.
    """

    name: str
    system: SystemSpec
    workload: WorkloadSpec
    clients: int
    repeat: int
    rate: Rate | None = None
    pipeline: int = 1
    step: int | None = None
    network_delay_us: int = 0

    @property
    def client(self) -> str:
        """The program that drives it: the workload's own, else the client that the experiment names."""
        return self.workload.program or self.system.client


@dataclass(frozen=True)
class Preparation:
    """One system started and loaded for one workload, and the trials run on it, in order; `name` is its folder's."""

    name: str
    system: SystemSpec
    workload: WorkloadSpec
    repeat: int
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Cell:
    """The common part of a comparison's sides: the workload and the load."""

    workload: WorkloadSpec = field(compare=False)
    pipeline: int
    rate: Rate | None
    clients: int
    network_delay_us: int = 0
    work: str = field(init=False)
    """The workload without the options of single systems, which no cell tells apart."""

    def __post_init__(self) -> None:
        """Render the name of the workload, by which cells are compared."""
        object.__setattr__(self, "work", str(self.workload))

    @property
    def slug(self) -> str:
        """It as a part of a folder's name: `game-c16`, `game-c16-p8-d200-r20000`."""
        pipeline = f"-p{self.pipeline}" if self.pipeline > 1 else ""
        rate = f"-{self.rate.slug}" if self.rate else ""
        delay = f"-d{self.network_delay_us}" if self.network_delay_us else ""
        clients = f"-c{self.clients}" if self.clients else ""
        return f"{_slug(str(self.workload))}{clients}{pipeline}{delay}{rate}"


def cell_of(trial: Trial) -> Cell:
    """Return a trial's cell."""
    return Cell(trial.workload, trial.pipeline, trial.rate, trial.clients, trial.network_delay_us)


def cells_of(experiment: Experiment) -> list[Cell]:
    """Return the cells: workloads × pipelines × network delays × rates × clients, the last changing first.

    These are the closed loops that a rate search begins with, or those that measure the capacity.
    """
    closed: list[Rate | None] = [None]
    rates = closed if experiment.of_capacity else experiment.rate or closed
    factors = product(experiment.workload, experiment.pipeline, experiment.network_delay_us, rates, experiment.clients)
    return [
        Cell(workload, pipeline, rate, clients, delay_us) for workload, pipeline, delay_us, rate, clients in factors
    ]


def share_cells(experiment: Experiment) -> list[Cell]:
    """Return the open loops at shares of capacity, which are run when the closed loops have measured that."""
    ways = product(experiment.workload, experiment.network_delay_us, experiment.rate or [])
    shares = [Cell(workload, 1, rate, 0, delay_us) for workload, delay_us, rate in ways]
    return shares if experiment.of_capacity else []


def expand(experiment: Experiment, systems: Sequence[SystemSpec]) -> list[Preparation]:
    """Return all preparations, in the order they are run.

    Without repetitions and restarts: for each of `systems`, for each workload, one preparation for all its loads. With
    them, each trial is prepared for itself, and nothing that an earlier one changed is in it; see `one_pass`. Shares
    of capacity come after all trials that measure it, so every repetition offers the same rate.
    """
    if experiment.prepared_alone:
        planned: list[Preparation] = []
        for cells, repeat in product((cells_of(experiment), share_cells(experiment)), range(1, experiment.repeat + 1)):
            planned += one_pass(experiment, systems, cells, repeat, planned)
        return planned
    cells = cells_of(experiment) + share_cells(experiment)
    planned = []
    for system, workload in product(systems, experiment.workload):
        shared = [cell for cell in cells if cell.workload == workload]
        planned.append(_prepare(experiment, system, shared, 1, planned))
    return planned


def one_pass(
    experiment: Experiment,
    systems: Sequence[SystemSpec],
    cells: Sequence[Cell],
    repeat: int,
    planned: Sequence[Preparation],
) -> list[Preparation]:
    """Return the preparations of one repetition of `cells`, each trial with its own, named on from `planned`.

    A pass goes through the cells in an order drawn by the seed, and through the systems of a cell one right after the
    other. Over the passes both orders are randomised ABBA blocks (docs/statistics.md, section 3.1). Two passes mirror
    each other, so a host that becomes slower weighs on every system and every load alike.
    """
    everything = cells_of(experiment) + share_cells(experiment)
    order = abba_order(everything, repeat, f"{experiment.seed}")[-1]
    prepared = list(planned)
    for cell in order:
        if cell in cells:
            sides = abba_order(systems, repeat, f"{experiment.seed} {everything.index(cell)}")[-1]
            for system in sides:
                prepared.append(_prepare(experiment, system, [cell], repeat, prepared))
    return prepared[len(planned) :]


def _prepare(
    experiment: Experiment, system: SystemSpec, cells: Sequence[Cell], repeat: int, planned: Sequence[Preparation]
) -> Preparation:
    """Return the next preparation and its trials, numbered on from those planned before."""
    step = 0 if experiment.find_rate else None
    number = sum(len(preparation.trials) for preparation in planned)
    trials = tuple(
        Trial(
            f"{number + index:03d}-{_slug(system.label)}-{cell.slug}",
            *(system, own_options(cell.workload, system.variant.options), cell.clients, repeat),
            *(cell.rate, cell.pipeline, step, cell.network_delay_us),
        )
        for index, cell in enumerate(cells, 1)
    )
    name = f"{len(planned) + 1:02d}-{_slug(system.label)}"
    return Preparation(name, system, trials[0].workload, repeat, trials)


def search_step(first: Trial, step: int, per_s: float) -> Trial:
    """Return the trial of one step of a rate search: `first`, the closed loop it began with, at a constant rate."""
    rate = Rate("constant", (per_s,))
    return replace(first, name=f"{first.name}-s{step:02d}-{rate.slug}", rate=rate, step=step)


def is_step_of(name: str, first: str) -> bool:
    """Return whether a trial's name is that of a step of the rate search that began with the trial `first`."""
    return re.match(rf"{re.escape(first)}-s\d+-", name) is not None


def _slug(label: str) -> str:
    """Return the label as a part of a folder's name: letters, digits, points and dashes, at most 40."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", label).strip("-")[:40].rstrip("-")
