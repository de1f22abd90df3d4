"""What was observed while a trial ran: host, processes, stores and their waits, sampled about once a second.

While a trial runs a line is appended to `observations.jsonl` for each sample; at its end they become
`observations.parquet`, one row a sample and one column a quantity (docs/run-folder.md, "Observations").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from dbdyno.errors import UserError
from dbdyno.results.jsonfiles import read_lines

AT = "at_unix_s"
LINES = "observations.jsonl"
TABLE = "observations.parquet"
ENOUGH_OF_THE_TIME = 0.5
"""A mean over a window of which less was seen is not given."""


@dataclass(frozen=True)
class Observations:
    """The samples of one trial.

    Attributes:
        at_unix_s: when each sample was taken, in seconds since the epoch, rising; shape (samples,).
        columns: name to values, float64 of the same shape, NaN where not seen. A name is `<band>.<quantity>`, its unit
            last; what ends in `_total` has been counted since the process, the host or the store began.
    """

    at_unix_s: np.ndarray
    columns: Mapping[str, np.ndarray]

    def names(self, prefix: str = "") -> tuple[str, ...]:
        """Return the columns whose names begin with `prefix`, in order."""
        return tuple(sorted(name for name in self.columns if name.startswith(prefix)))

    def rate(self, name: str) -> np.ndarray:
        """Return how fast a `_total` grew, per second, shape (samples,): at each sample, since the last that saw it.

        NaN for the first sample, where it was not seen, and where it fell: what is counted had begun anew.
        """
        rates = np.full(len(self.at_unix_s), np.nan)
        seen, _, per_s = self._growth(name)
        rates[seen[1:]] = per_s
        return rates

    def mean_rate(self, name: str, begin_unix_s: float, end_unix_s: float) -> float | None:
        """Return how fast a `_total` grew between two times, per second; None where half of the time was not seen.

        Samples do not fall on the window's ends: growth between two samples is taken to be even.
        """
        _, times, per_s = self._growth(name)
        known = ~np.isnan(per_s)
        if not known.any():
            return None
        begins, ends = np.clip(times[:-1], begin_unix_s, None), np.clip(times[1:], None, end_unix_s)
        overlap_s = np.where(known, np.clip(ends - begins, 0, None), 0.0)
        covered_s = float(overlap_s.sum())
        if covered_s <= 0 or covered_s < ENOUGH_OF_THE_TIME * (end_unix_s - begin_unix_s):
            return None
        return float(per_s[known] @ overlap_s[known]) / covered_s

    def mean(self, name: str, begin_unix_s: float, end_unix_s: float) -> float | None:
        """Return the mean of the samples taken after `begin_unix_s` and up to `end_unix_s`; None where none saw it."""
        values = self.columns.get(name)
        if values is None:
            return None
        within = (self.at_unix_s > begin_unix_s) & (self.at_unix_s <= end_unix_s) & ~np.isnan(values)
        return float(values[within].mean()) if within.any() else None

    def _growth(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The samples that saw `name`, their times, and the growth per second from each to the next, NaN if it fell."""
        values = self.columns.get(name)
        seen = np.flatnonzero(~np.isnan(values)) if values is not None else np.array([], int)
        times = self.at_unix_s[seen]
        if values is None or len(seen) < 2:
            return seen, times, np.array([])
        grown, lasted_s = np.diff(values[seen]), np.diff(times)
        good = (grown >= 0) & (lasted_s > 0)
        return seen, times, np.where(good, grown / np.where(good, lasted_s, 1.0), np.nan)


def read_observations(folder: Path) -> Observations | None:
    """Read what was observed in a trial's folder; None where nothing was.

    Raises:
        UserError: its file cannot be understood.
    """
    if (folder / TABLE).is_file():
        return _table().read_table(folder / TABLE)
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


def _table() -> ModuleType:
    """What reads and writes tables: importing it takes a good part of the second that `dbdyno show` may last."""
    return import_module("dbdyno.results.observations_table")


def _read_lines(path: Path) -> Observations:
    samples = []
    for number, line in read_lines(path):
        samples.append(line)
        if not isinstance(line.get(AT), int | float) or not all(_is_number(value) for value in line.values()):
            raise UserError(f"{path}, line {number}: not a sample of observations")
    names = dict.fromkeys(name for sample in samples for name in sample if name != AT)
    columns = {name: _column(sample.get(name) for sample in samples) for name in names}
    return Observations(_column(sample[AT] for sample in samples), columns)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _column(values: Iterable[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], float)
