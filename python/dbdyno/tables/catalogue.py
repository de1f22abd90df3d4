"""The tables by name, and what their columns hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dbdyno.results.model import Run
from dbdyno.tables import histograms, observations, operations, seconds, trials
from dbdyno.tables.table import Column, Table

TABLES: Mapping[str, Callable[[Sequence[Run]], Table]] = {
    "trials": trials.trials_of,
    "operations": operations.operations_of,
    "seconds": seconds.seconds_of,
    "observations": observations.observations_of,
    "histograms": histograms.histograms_of,
}
COLUMNS: Mapping[str, Sequence[Column]] = {
    "trials": trials.COLUMNS,
    "operations": operations.COLUMNS,
    "seconds": seconds.COLUMNS,
    "observations": observations.COLUMNS,
    "histograms": histograms.COLUMNS,
}
