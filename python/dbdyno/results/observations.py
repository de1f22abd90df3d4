"""The observations of a trial: host, processes, stores and their waits, sampled about once a second.

While a trial runs a line is appended to `observations.jsonl` for each sample; at its end they become
`observations.parquet`, one row a sample and one column a quantity (docs/run-folder.md, "Observations").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from dbdyno.errors import UserError
from dbdyno.results.jsonfiles import MOST, read_lines
from dbdyno.results.samples import AT, Observations
from dbdyno.results.together import together

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject

LINES = "observations.jsonl"
TABLE = "observations.parquet"
HOSTS = "hosts"
"""The part of a trial's folder that has a folder for each other host."""


def read_observations(folder: Path) -> Observations | None:
    """Read what was observed in a trial's folder; None if nothing was.

    Raises:
        UserError: its file cannot be understood.
    """
    if (folder / TABLE).is_file():
        observations: Observations = _table().read_table(folder / TABLE)
        return observations
    if (folder / LINES).is_file():
        return _read_lines(folder / LINES)
    return None


def close_observations(folder: Path) -> Observations | None:
    """Turn a trial's `observations.jsonl` into `observations.parquet`, and return what it holds; None if there is none.

    Raises:
        UserError: a line before the last cannot be understood.
        OSError: the table cannot be written; the lines stay.
    """
    lines = folder / LINES
    if not lines.is_file():
        return None
    observations = _read_lines(lines)
    _table().write_table(folder / TABLE, observations)
    lines.unlink()
    return observations


def close_hosts(folder: Path, hosts: Sequence[str]) -> Observations | None:
    """Turn what was observed of a trial on several server hosts into a table each, and one of the trial.

    Returns the trial's; `None` if nothing was observed. Raises as `close_observations`.
    """
    closed = [close_observations(folder / HOSTS / name) for name in hosts]
    seen = [observations for observations in closed if observations is not None and len(observations.at_unix_s)]
    (folder / LINES).unlink(missing_ok=True)
    if not seen:
        return None
    observations = together(seen)
    _table().write_table(folder / TABLE, observations)
    return observations


def _table() -> ModuleType:
    """Return the module for tables: importing it takes a good part of the second that `dbdyno show` may last."""
    return import_module("dbdyno.results.observations_table")


def _read_lines(path: Path) -> Observations:
    samples = []
    for number, line in read_lines(path):
        samples.append(line)
        if line.get(AT) is None or not all(map(_is_number, line.values())):
            raise UserError(f"{path}, line {number}: not a sample of observations")
    return observations_of(samples)


def observations_of(samples: Sequence[JsonObject]) -> Observations:
    """Return samples, in the order of their times, as columns."""
    names = dict.fromkeys(name for sample in samples for name in sample if name != AT)
    columns = {name: _column(sample.get(name) for sample in samples) for name in names}
    return Observations(_column(sample[AT] for sample in samples), columns)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and not abs(value) >= MOST)


def _column(values: Iterable[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], float)
