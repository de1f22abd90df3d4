"""Data for the plots over time beside a run's document, each read when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dbdyno.results.summary import read_summary

if TYPE_CHECKING:
    from dbdyno.results.model import Run, Trial
    from dbdyno.results.samples import Observations

FELL = 0.5
"""At a checkpoint, the data left to be checkpointed falls below this share of itself."""
LEAST_FALL_BYTES = 1 << 20
"""It also falls by at least this: a tiny amount may halve without a checkpoint."""
OLD_ROWS = ("history_list_length", "dead_rows")
"""Names that stores give to old row versions they have yet to remove: of transactions, and of rows."""


@dataclass(frozen=True, slots=True)
class Recordings:
    """Data for the plots over time beside the run's document, by the name of a trial.

    Attributes:
        latencies: distribution of each second, as `Reader.latencies`, or `None`.
        checkpoints: when the store made a checkpoint, in seconds since the run phase began; `None` if nothing reports
            them.
        observed: the trial's observations, and when its run phase began, in seconds since the epoch.
        old_rows: seconds since the run phase began, and how many old row versions the store then had yet to remove.
    """

    latencies: Callable[[str], np.ndarray | None] = lambda _: None
    old_rows: Callable[[str], tuple[list[float], list[float]] | None] = lambda _: None
    checkpoints: Callable[[str], list[float] | None] = lambda _: None
    observed: Callable[[str], tuple[Observations, float] | None] = lambda _: None


def recordings_of(run: Run) -> Recordings:
    """Return the recordings of a run, each read when it is needed."""
    trials = {trial.name: trial for trial in run.trials}
    return Recordings(
        latencies=lambda name: _latencies(trials[name]),
        checkpoints=lambda name: _checkpoints(trials[name]),
        old_rows=lambda name: old_rows(trials[name]),
        observed=lambda name: _observed(trials[name]),
    )


def _latencies(trial: Trial) -> np.ndarray | None:
    if trial.folder is None:
        return None
    facts = trial.facts
    return read_summary(trial.folder, facts.automatic_warmup, True, facts.profiled_seconds).latencies


def _observed(trial: Trial) -> tuple[Observations, float] | None:
    observations, began_unix_s = trial.observations, trial.recorded.run_began_unix_s
    return None if observations is None or began_unix_s is None else (observations, began_unix_s)


def old_rows(trial: Trial) -> tuple[list[float], list[float]] | None:
    """Return the old row versions over time; `None` if the store does not report them, or they never change.

    The times are in seconds since the run phase began.
    """
    if (observed := _observed(trial)) is None:
        return None
    observations, began_unix_s = observed
    for name in observations.names("store."):
        if name.endswith(OLD_ROWS):
            values = observations.columns[name]
            seen = ~np.isnan(values) & (observations.at_unix_s >= began_unix_s)
            if seen.any() and np.ptp(values[seen]) > 0:
                times = (observations.at_unix_s[seen] - began_unix_s).round(2)
                return times.tolist(), values[seen].tolist()
    return None


def _checkpoints(trial: Trial) -> list[float] | None:
    if (observed := _observed(trial)) is None:
        return None
    observations, began_unix_s = observed
    seen = [made for name in observations.names("store.") if (made := _checkpoints_by(observations, name)) is not None]
    if not seen:
        return None
    times = observations.at_unix_s[np.any(seen, axis=0)] - began_unix_s
    return [round(float(at), 1) for at in times if at >= 0]


def _checkpoints_by(observations: Observations, name: str) -> np.ndarray | None:
    """Return at which samples a store's figure shows a checkpoint (or a snapshot, or a rewritten log), else `None`.

    Such a figure counts checkpoints, says whether one is in progress, or how much is left to be checkpointed.
    """
    values = observations.columns[name]
    before = np.concatenate(([np.nan], values[:-1]))
    # checkpoint_pages_total is no such counter: pages are written all the time between two checkpoints.
    if name.endswith("_total") and "checkpoints_" in name:
        return np.asarray(np.nan_to_num(observations.rate(name)) > 0)
    if name.endswith("_in_progress"):
        return np.asarray((values > 0) & (before == 0))
    if name.endswith("checkpoint_age_bytes"):
        return np.asarray((values < FELL * before) & (before - values >= LEAST_FALL_BYTES))
    return None
