"""The samples of one trial: one column a quantity, and how fast what is counted grew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

AT = "at_unix_s"
ENOUGH_OF_THE_TIME = 0.5
"""A window of which less was observed has no mean."""


@dataclass(frozen=True)
class Observations:
    """The samples of one trial.

    Attributes:
        at_unix_s: when each sample was taken, in seconds since the epoch, rising; shape (samples,).
        columns: name to values, float64 of the same shape, NaN if not seen. A name is `<band>.<quantity>`, its unit
            last; what ends in `_total` has been counted since the process, the host or the store began.
        left_out: begin and end of each time that no mean counts, in seconds since the epoch.
    """

    at_unix_s: np.ndarray
    columns: Mapping[str, np.ndarray]
    left_out: tuple[tuple[float, float], ...] = ()

    def names(self, prefix: str = "") -> tuple[str, ...]:
        """Return the columns whose names begin with `prefix`, in order."""
        return tuple(sorted(name for name in self.columns if name.startswith(prefix)))

    def rate(self, name: str) -> np.ndarray:
        """Return how fast a `_total` grew, per second, shape (samples,): at each sample, since the last that saw it.

        NaN for the first sample, if it was not seen, and if it fell: what is counted had begun anew.
        """
        rates = np.full(len(self.at_unix_s), np.nan)
        seen, _, per_s = self._growth(name)
        rates[seen[1:]] = per_s
        return rates

    def mean_rate(self, name: str, begin_unix_s: float, end_unix_s: float) -> float | None:
        """Return how fast a `_total` grew between two times, per second; None if half of the time was not seen.

        Samples do not fall on the window's ends: growth between two samples is taken to be even.
        """
        _, times, per_s = self._growth(name)
        known = ~np.isnan(per_s)
        if not known.any():
            return None
        spans = [(begin_unix_s, end_unix_s), *self._left_out_within(begin_unix_s, end_unix_s)]
        counted_s, *left_out_s = (_overlap_s(times, *span) for span in spans)
        overlap_s = np.where(known, np.clip(counted_s - sum(left_out_s), 0, None), 0.0)
        wanted_s = end_unix_s - begin_unix_s - sum(end - begin for begin, end in spans[1:])
        covered_s = float(overlap_s.sum())
        if covered_s <= 0 or covered_s < ENOUGH_OF_THE_TIME * wanted_s:
            return None
        return float(per_s[known] @ overlap_s[known]) / covered_s

    def mean(self, name: str, begin_unix_s: float, end_unix_s: float) -> float | None:
        """Return the mean of the samples taken after `begin_unix_s` and up to `end_unix_s`; None if none saw it."""
        values = self.columns.get(name)
        if values is None:
            return None
        within = self.within(begin_unix_s, end_unix_s) & ~np.isnan(values)
        return float(values[within].mean()) if within.any() else None

    def within(self, begin_unix_s: float, end_unix_s: float) -> np.ndarray:
        """Return which samples a mean over a window counts; shape (samples,)."""
        within = (self.at_unix_s > begin_unix_s) & (self.at_unix_s <= end_unix_s)
        for begin, end in self.left_out:
            within &= (self.at_unix_s <= begin) | (self.at_unix_s > end)
        return within

    def _left_out_within(self, begin_unix_s: float, end_unix_s: float) -> list[tuple[float, float]]:
        clipped = [(max(begin, begin_unix_s), min(end, end_unix_s)) for begin, end in self.left_out]
        return [(begin, end) for begin, end in clipped if begin < end]

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


def _overlap_s(times: np.ndarray, begin_unix_s: float, end_unix_s: float) -> np.ndarray:
    """Return how much of each time between two samples lies in a window; shape (samples - 1,)."""
    begins, ends = np.clip(times[:-1], begin_unix_s, None), np.clip(times[1:], None, end_unix_s)
    return np.asarray(np.clip(ends - begins, 0, None))
