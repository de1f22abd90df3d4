"""`precise`: adds pairs until every interval is that narrow, at most 20 of them (docs/statistics.md, section 3.2)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from dbdyno.conduct.context import Context
from dbdyno.experiment.model import MOST_PAIRS
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.trials import Cell, Preparation, cell_of, cells_of, one_pass
from dbdyno.results.read import read_trial
from dbdyno.results.usable import compared_rate_per_s, unusable
from dbdyno.stats.comparison import compare, is_narrow


def more_pairs(
    context: Context, systems: Sequence[SystemSpec], planned: Sequence[Preparation]
) -> Iterator[Preparation]:
    """Yield one more pass of the cells that are not known well enough, and again, once those before it have been run.

    planned: what has been run, every system against the first. A cell with a trial that failed or was limited by its
    client is given up: no number of pairs makes its comparison valid.
    """
    run = list(planned)
    rates = _Rates(context.folder.path / "trials", [system.label for system in systems])
    while context.experiment.precise is not None and (repeat := run[-1].repeat + 1) <= MOST_PAIRS:
        rates.take(run)
        wide = [cell for cell in cells_of(context.experiment) if rates.wide(cell, context.experiment.precise)]
        more = one_pass(context.experiment, systems, wide, repeat, run)
        if not more:
            return
        context.journal.add_trials([trial.name for preparation in more for trial in preparation.trials])
        context.listener.trials_are_added(len(more), len(wide))
        run += more
        yield from more


class _Rates:
    """What the trials of a run reached, read once each."""

    def __init__(self, folder: Path, labels: list[str]) -> None:
        self._folder, self._labels = folder, labels
        self._taken: set[str] = set()
        self._given_up: set[Cell] = set()
        self._by_cell: dict[Cell, dict[str, list[float]]] = {}

    def take(self, preparations: Sequence[Preparation]) -> None:
        """Read the trials that were run since the last time."""
        for planned in (trial for preparation in preparations for trial in preparation.trials):
            if planned.name in self._taken:
                continue
            self._taken.add(planned.name)
            trial, cell = read_trial(self._folder / planned.name), cell_of(planned)
            if unusable(trial) or trial.client_limited:
                self._given_up.add(cell)
            else:
                sides = self._by_cell.setdefault(cell, {label: [] for label in self._labels})
                sides[planned.system.label].append(compared_rate_per_s(trial))

    def wide(self, cell: Cell, precise: float) -> bool:
        """Whether any comparison in a cell is not yet known to ±`precise`."""
        if cell in self._given_up:
            return False
        baseline, *others = self._by_cell[cell].values()
        return any(not is_narrow(compare(baseline, other), precise) for other in others)
