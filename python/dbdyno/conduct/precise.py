"""`precise`: adds pairs until every interval is that narrow, at most 20 of them (docs/statistics.md, section 3.2)."""

from collections.abc import Sequence
from pathlib import Path

from dbdyno.experiment.model import MOST_PAIRS, Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.trials import Cell, Preparation, cell_of, cells_of
from dbdyno.results.client_limit import majority
from dbdyno.results.read import read_trial
from dbdyno.results.rivals import against
from dbdyno.results.usable import compared_rate_per_s, unusable
from dbdyno.stats.comparison import compare, is_narrow


class Precise:
    """Wants more pairs of the cells that are not known well enough.

    A cell is given up if a trial failed, or if the client limited most trials of a side: more pairs hardly make its
    comparison valid.
    """

    def __init__(self, experiment: Experiment, systems: Sequence[SystemSpec]) -> None:
        """Take the experiment, which has `precise`, and its systems."""
        self._experiment = experiment
        self._labels = [system.label for system in systems]
        self._pairs = against({system.label: system.variant.words for system in systems})
        self._taken: set[str] = set()
        self._given_up: set[Cell] = set()
        self._by_cell: dict[Cell, dict[str, list[float]]] = {}
        self._limited: dict[Cell, dict[str, list[bool]]] = {}

    def undecided(self, folder: Path, planned: Sequence[Preparation], pair_s: float) -> list[Cell]:
        """Return the cells in which the interval of some comparison is too wide, until 20 pairs."""
        if planned[-1].repeat >= MOST_PAIRS:
            return []
        self._take(folder / "trials", planned)
        return [cell for cell in cells_of(self._experiment) if self._wide(cell)]

    def why(self, cells: int) -> str:
        return "one cell is not precise enough yet" if cells == 1 else f"{cells} cells are not precise enough yet"

    def _take(self, folder: Path, preparations: Sequence[Preparation]) -> None:
        """Read the trials that were run since the last time."""
        for planned in (trial for preparation in preparations for trial in preparation.trials):
            if planned.name in self._taken:
                continue
            self._taken.add(planned.name)
            trial, cell = read_trial(folder / planned.name), cell_of(planned)
            if unusable(trial):
                self._given_up.add(cell)
                continue
            label = planned.system.label
            sides = self._by_cell.setdefault(cell, {label: [] for label in self._labels})
            sides[label].append(compared_rate_per_s(trial))
            limited = self._limited.setdefault(cell, {label: [] for label in self._labels})
            limited[label].append(trial.client_limited is not None)

    def _wide(self, cell: Cell) -> bool:
        """Return whether any comparison in a cell is not yet known as exactly as wanted."""
        if cell in self._given_up or any(map(majority, self._limited[cell].values())):
            return False
        sides, wanted = self._by_cell[cell], self._experiment.precise or 0.0
        return any(not is_narrow(compare(sides[first], sides[other]), wanted) for first, other in self._pairs)
