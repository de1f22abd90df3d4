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
        self._judge, self._ends_s = judge, ends_s

    def undecided(self, folder: Path, planned: Sequence[Preparation], pass_s: float) -> list[Cell]:
        """Return the cells that need another pair; none if another pass would end too late."""
        if planned[-1].repeat >= MOST_PAIRS or time.monotonic() + pass_s > self._ends_s:
            return []
        cells = {trial.name: cell_of(trial) for preparation in planned for trial in preparation.trials}
        open_ones = [comparison for comparison in self._judge(read_run(folder)) if comparison.outcome is None]
        return list(dict.fromkeys(cells[comparison.compared.trials[0][0].name] for comparison in open_ones))
