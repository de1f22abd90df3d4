"""The Python API: a run's folder as tables, for pandas, Polars and Arrow (docs/python-api.md)."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from dbdyno.results.foreign_content import understood
from dbdyno.results.model import Run
from dbdyno.results.read import read_run
from dbdyno.tables.catalogue import TABLES
from dbdyno.tables.table import Table


class OpenedRun:
    """A run's folder, read. Each table is made when it is first used.

    Attributes:
        path: the folder.
        name: the name of the run.
        state: `complete`, `failed`, `interrupted`, or `running` (also if dbdyno was killed).
    """

    def __init__(self, run: Run) -> None:
        """Take a run that was read; `open_run` reads one."""
        self._run = run
        self.path = run.path
        self.name = run.facts.run or run.path.name
        self.state = run.facts.state

    def __repr__(self) -> str:
        return f"<Run {self.name}: {len(self._run.trials)} trials, {self.state}>"

    @cached_property
    def trials(self) -> Table:
        """One row a trial: what it was of, its figures, and what limited it."""
        return self._table("trials")

    @cached_property
    def operations(self) -> Table:
        """One row an operation of a trial."""
        return self._table("operations")

    @cached_property
    def seconds(self) -> Table:
        """One row a second of a trial, warm-up included."""
        return self._table("seconds")

    @cached_property
    def observations(self) -> Table:
        """One row a quantity of a sample: host, processes, disk, stores and their waits."""
        return self._table("observations")

    @cached_property
    def histograms(self) -> Table:
        """One row a bucket of a latency histogram of a trial."""
        return self._table("histograms")

    def _table(self, name: str) -> Table:
        with understood(self.path):
            return TABLES[name]([self._run])


def open_run(path: str | os.PathLike[str]) -> OpenedRun:
    """Read a run's folder, also of a run that failed, was killed or is still running.

    Raises:
        UserError: it is not a run's folder, of another format, or holds a file that cannot be understood.
    """
    return OpenedRun(read_run(Path(path)))
