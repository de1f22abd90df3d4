"""The observations of several hosts as those of one trial."""

from collections.abc import Sequence

import numpy as np

from dbdyno.results.samples import Observations

OF_HOST = ("host.", "pressure.", "network.", "disk.")
"""Bands that every host has under the same names."""
FARTHEST_S = 0.75
"""Between two samples of two hosts that share a row: each host takes one a second."""


def together(hosts: Sequence[Observations]) -> Observations:
    """Return the rows of the first host, each with the sample that each other host took at about the same time.

    Of the bands that all hosts have, only the first host's are in it. A sample is in one row at most, and its values
    stay as they are.
    """
    first, *others = hosts
    columns = dict(first.columns)
    for other in others:
        rows = _rows(first.at_unix_s, other.at_unix_s)
        for name, values in other.columns.items():
            if not name.startswith(OF_HOST):
                columns[name] = np.where(rows >= 0, np.append(values, np.nan)[rows], np.nan)
    return Observations(first.at_unix_s, columns)


def _rows(at_s: np.ndarray, others_s: np.ndarray) -> np.ndarray:
    """Return for each of `at_s` the number of the other sample that belongs to it, or -1; shape of `at_s`."""
    rows = np.full(len(at_s), -1)
    if not len(at_s) or not len(others_s):
        return rows
    # Two hosts that sample half a second apart would change their pairs with every jitter; one of the two is taken.
    apart_s = np.sort(others_s - at_s[_nearest(at_s, others_s)])[len(others_s) // 2]
    moved_s = others_s - apart_s
    nearest = _nearest(at_s, moved_s)
    distance_s = np.abs(moved_s - at_s[nearest])
    order = np.argsort(-distance_s, kind="stable")
    order = order[distance_s[order] <= FARTHEST_S]
    # The last one that is written to a row is the nearest.
    rows[nearest[order]] = order
    return rows


def _nearest(at_s: np.ndarray, wanted_s: np.ndarray) -> np.ndarray:
    """Return for each of `wanted_s` the number of the nearest of `at_s`, which rises."""
    after = np.clip(np.searchsorted(at_s, wanted_s), 0, len(at_s) - 1)
    before = np.clip(after - 1, 0, None)
    return np.where(np.abs(wanted_s - at_s[before]) <= np.abs(at_s[after] - wanted_s), before, after)
