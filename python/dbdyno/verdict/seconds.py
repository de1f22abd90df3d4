"""Observations put on a trial's own seconds: samples are taken about once a second, but not when a second begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dbdyno.results.samples import Observations

ENOUGH_OF_A_SECOND = 0.5
"""A second of which less was observed is unknown."""


class Seconds:
    """A trial's seconds, and what was observed in each; NaN if it was not seen.

    Attributes:
        edges_unix_s: when each second began, and at last when the last one ended; shape (seconds + 1,).
    """

    def __init__(self, observations: Observations | None, edges_unix_s: np.ndarray) -> None:
        """Take what was observed, if anything was."""
        self._observations = observations
        self.edges_unix_s = edges_unix_s

    def __len__(self) -> int:
        return len(self.edges_unix_s) - 1

    def rate(self, name: str) -> np.ndarray:
        """Return how fast a `_total` grew in each second, per second; shape (seconds,)."""
        seen = self._seen(name)
        if self._observations is None or len(seen) < 2:
            return self._unknown()
        times = self._observations.at_unix_s[seen]
        return self._averaged(times[:-1], times[1:], self._observations.rate(name)[seen[1:]])

    def mean(self, name: str) -> np.ndarray:
        """Return the mean of a quantity in each second, a sample standing for the time since the one before it."""
        seen = self._seen(name)
        seen = seen[seen > 0]
        if self._observations is None or not len(seen):
            return self._unknown()
        times = self._observations.at_unix_s
        return self._averaged(times[seen - 1], times[seen], self._observations.columns[name][seen])

    def _seen(self, name: str) -> np.ndarray:
        """Return the numbers of the samples that saw it."""
        values = self._observations.columns.get(name) if self._observations else None
        return np.array([], int) if values is None else np.flatnonzero(~np.isnan(values))

    def _averaged(self, begins: np.ndarray, ends: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Average `values`, each of the time from its begin to its end, over the seconds; between is not known."""
        known = ~np.isnan(values)
        knots = np.stack([begins, ends], axis=1).ravel()
        totals = []
        for part in (np.where(known, values, 0.0), known.astype(float)):
            grown = np.stack([np.zeros(len(part)), part * (ends - begins)], axis=1).ravel()
            totals.append(np.diff(np.interp(self.edges_unix_s, knots, np.cumsum(grown))))
        summed, covered_s = totals
        enough = covered_s >= ENOUGH_OF_A_SECOND * np.diff(self.edges_unix_s)
        return np.where(enough, summed / np.where(enough, covered_s, 1.0), np.nan)

    def _unknown(self) -> np.ndarray:
        return np.full(len(self), np.nan)
