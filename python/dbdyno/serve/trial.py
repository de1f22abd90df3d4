"""One trial as far as it went: read on from where the last look ended, so a look costs what a second has brought."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dbdyno.contract import JsonObject, as_record
from dbdyno.report.core.panels import panels
from dbdyno.results.conclusions import Budget
from dbdyno.results.facts import TrialFacts
from dbdyno.results.jsonfiles import read_object
from dbdyno.results.model import Interval, ObservedTrial
from dbdyno.results.observations import LINES, observations_of, read_observations
from dbdyno.results.records import Reader
from dbdyno.results.samples import AT, Observations
from dbdyno.serve.tail import Tail
from dbdyno.verdict.budget import time_budget
from dbdyno.verdict.judge import rounded

MOST_ERRORS = 3
"""First errors that are shown word for word."""


class FollowedTrial:
    """A trial whose folder grows."""

    def __init__(self, folder: Path) -> None:
        """Take a trial's folder."""
        self.folder = folder
        self._records, self._lines = Tail(folder / "records.jsonl"), Tail(folder / LINES)
        # Nobody knows yet where an automatic warm-up ends.
        self._reader = Reader(auto_warmup=False)
        self._samples: list[JsonObject] = []

    def look(self) -> None:
        """Read what is new.

        Raises:
            UserError: a file cannot be understood.
        """
        for record in self._records.read():
            self._reader.add(as_record(record))
        self._samples += [sample for sample in self._lines.read() if AT in sample]

    @property
    def facts(self) -> TrialFacts:
        """The facts in `trial.json`."""
        return TrialFacts.read(read_object(self.folder / "trial.json"))

    @property
    def intervals(self) -> Sequence[Interval]:
        """Every second so far."""
        return self._reader.intervals

    @property
    def errors(self) -> list[str]:
        """The first errors, as the store worded them."""
        return [str(error.get("message", "")) for error in self._reader.errors[:MOST_ERRORS]]

    def observed(self) -> dict[str, object] | None:
        """Return what was observed since the run phase began, as `dbdyno.report.core.panels.panels`."""
        observations, began_unix_s = self._observations(), self._reader.run_began_unix_s
        return panels(observations, began_unix_s) if observations and began_unix_s is not None else None

    def budget(self) -> Budget | None:
        """Return where the operations in flight were; None during the warm-up."""
        about = read_object(self.folder / "trial.json")
        recorded, samples = self._reader.recorded(), self._observations()
        trial = ObservedTrial(self.folder.name, "running", None, about, recorded, (), (), samples=samples)
        budget = time_budget(trial)
        return rounded(budget) if budget else None

    def _observations(self) -> Observations | None:
        # When a trial ends its lines become a table.
        return observations_of(self._samples) if self._samples else read_observations(self.folder)
