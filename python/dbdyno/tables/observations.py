"""One row an observed quantity of a sample: host, processes, disk, stores and their waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dbdyno.report.document import in_reading_order
from dbdyno.results.model import Run, Trial
from dbdyno.tables.seconds import identity_of
from dbdyno.tables.table import Column, Table
from dbdyno.tables.trials import IDENTITY

COLUMNS = (
    *IDENTITY,
    Column("at_unix_s", "number", "when the sample was taken, in seconds since the epoch"),
    Column("second", "number", "the same, from the start of the load; negative before it"),
    Column("name", "text", "quantity, as docs/run-folder.md lists them, e.g. host.cpu_user_s_total"),
    Column("value", "number", "its value; names that end in _total are cumulative"),
    Column("rate_per_s", "number", "growth per second of a _total since the sample before"),
)


def observations_of(runs: Sequence[Run]) -> Table:
    """Return what was observed in the trials of runs; a quantity that was not seen in a sample has no row there."""
    pairs = ((run, trial) for run in runs for trial in in_reading_order(run))
    return Table("observations", COLUMNS, (row for run, trial in pairs for row in _rows(run, trial)))


def _rows(run: Run, trial: Trial) -> Iterator[tuple[Any, ...]]:
    observed, same = trial.observations, identity_of(run, trial)
    if observed is None:
        return
    began = trial.recorded.run_began_unix_s
    at = observed.at_unix_s.tolist()
    second = [None if began is None else round(at_unix_s - began, 3) for at_unix_s in at]
    for name in observed.names():
        values = observed.columns[name]
        rates = observed.rate(name) if name.endswith("_total") else np.full(len(at), np.nan)
        for row in np.flatnonzero(~np.isnan(values)).tolist():
            rate = float(rates[row])
            yield *same, at[row], second[row], name, float(values[row]), None if np.isnan(rate) else rate
