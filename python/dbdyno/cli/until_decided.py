"""When a run of a base and a head has enough pairs: every comparison is decided, or its time is up."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dbdyno.experiment.trials import Cell, Preparation, cell_of
from dbdyno.report.ci.decisions import Decided
from dbdyno.results.model import Run
from dbdyno.results.read import read_run
from dbdyno.stats.sequential import MOST_PAIRS


class UntilDecided:
    """Wants another pair of each undecided comparison, while there is time for one."""

    def __init__(self, judge: Callable[[Run], Sequence[Decided]], ends_s: float) -> None:
        """judge: the decisions of a run as they stand. ends_s: when time is up, by `time.monotonic`."""
        self._judge, self.ends_s = judge, ends_s
        self._pass_s, self._is_full = 0.0, False

    def undecided(self, folder: Path, planned: Sequence[Preparation], pass_s: float) -> list[Cell]:
        """Return the cells that need another pair; none if another pass would end too late."""
        # A run that goes on has no pass of its own yet: those before it count.
        self._pass_s, self._is_full = max(pass_s, self._pass_s), planned[-1].repeat >= MOST_PAIRS
        if not self.has_time(self.ends_s):
            return []
        cells = {trial.name: cell_of(trial) for preparation in planned for trial in preparation.trials}
        undecided = self._undecided(folder)
        return list(dict.fromkeys(cells[comparison.compared.trials[0][0].name] for comparison in undecided))

    def is_undecided(self, folder: Path) -> bool:
        """Return whether another pair may still decide a comparison of this run."""
        return bool(self._undecided(folder))

    def _undecided(self, folder: Path) -> list[Decided]:
        return [comparison for comparison in self._judge(read_run(folder)) if comparison.outcome is None]

    def has_time(self, ends_s: float) -> bool:
        """Return whether another pass could be run, and would end in time."""
        return not self._is_full and time.monotonic() + self._pass_s <= ends_s

    def why(self, cells: int) -> str:
        return "one comparison is undecided" if cells == 1 else f"{cells} comparisons are undecided"
