"""When a run of a base and a head has enough pairs: every comparison is decided, or its time is up.

Time that is too short for all goes to those that it can decide: first to those where the head seems slower, of these to
the ones that need fewest pairs. Any such choice keeps the intervals right (docs/statistics.md, section 3.7).
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dbdyno.experiment.trials import Cell, Preparation, cell_of
from dbdyno.report.ci.decisions import Decided
from dbdyno.results.model import Run
from dbdyno.results.read import read_run
from dbdyno.stats.sequential import MOST_PAIRS


class UntilDecided:
    """Wants another pair of the undecided comparisons that the time left can decide."""

    def __init__(self, judge: Callable[[Run], Sequence[Decided]], ends_s: float) -> None:
        """judge: the decisions of a run as they stand. ends_s: when time is up, by `time.monotonic`."""
        self._judge, self.ends_s = judge, ends_s
        self._pair_s = 0.0

    def undecided(self, folder: Path, planned: Sequence[Preparation], pair_s: float) -> list[Cell]:
        """Return the cells that get another pair; none if it would end too late."""
        # A run that goes on has no pair of its own yet: those before it count.
        self._pair_s = max(pair_s, self._pair_s)
        if not self.has_time(self.ends_s):
            return []
        cells = {trial.name: cell_of(trial) for preparation in planned for trial in preparation.trials}
        room = int((self.ends_s - time.monotonic()) / self._pair_s) if self._pair_s else MOST_PAIRS
        chosen = _that_can_be_decided(self._undecided(folder), max(1, room))
        return list(dict.fromkeys(cells[comparison.compared.trials[0][0].name] for comparison in chosen))

    def is_undecided(self, folder: Path) -> bool:
        """Return whether another pair may still decide a comparison of this run."""
        return bool(self._undecided(folder))

    def _undecided(self, folder: Path) -> list[Decided]:
        undecided = (comparison for comparison in self._judge(read_run(folder)) if comparison.outcome is None)
        return [comparison for comparison in undecided if comparison.pairs < MOST_PAIRS]

    def has_time(self, ends_s: float) -> bool:
        """Return whether another pair would end in time."""
        return time.monotonic() + self._pair_s <= ends_s

    def why(self, cells: int) -> str:
        return "one undecided comparison" if cells == 1 else f"{cells} undecided comparisons"


def _that_can_be_decided(undecided: Sequence[Decided], room: int) -> list[Decided]:
    """Return those that about so many pairs decide, and at least the one that comes first."""
    chosen: list[Decided] = []
    for comparison in sorted(undecided, key=_comes_before):
        if chosen and comparison.more_pairs > room:
            break
        chosen.append(comparison)
        room -= comparison.more_pairs
    return chosen


def _comes_before(comparison: Decided) -> tuple[bool, int]:
    return not comparison.seems_slower, comparison.more_pairs
