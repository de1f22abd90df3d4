"""Observations of a trial as panels: plots over time that a reader chooses from a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from dbdyno.results.samples import Observations

MOST_POINTS, LEAST_POINTS = 600, 60
POINTS_OF_A_PAGE = 4_000
"""Points of one quantity over all trials: hundreds of trials must not make a page of hundreds of megabytes."""
BANDS = {
    "host": "Host",
    "pressure": "Host",
    "network": "Host",
    "disk": "Disk",
    "process": "Processes",
    "cgroup": "Processes",
    "store": "Store",
    "waits": "Store",
    "locks": "Store",
}
"""The group of each band of observations, in the order of the list."""
_WHOLE_HOST = ("host", "pressure", "network")
"""Bands of the host as a whole: their columns name no subject."""
_NAMES = {
    "memory_available": "memory available",
    "resident": "memory",
    "private": "memory not shared",
    "run_queue": "waiting for a processor",
    "io_delay": "waiting for a disk",
    "busy": "disk busy",
    "throttled": "throttled by a CPU quota",
    "cpu_some": "tasks stalled for lack of CPU",
    "io_some": "tasks stalled by I/O",
    "io_full": "all tasks stalled by I/O",
    "memory_some": "tasks stalled for lack of memory",
}
"""Names of quantities whose columns do not explain themselves."""
_DEFAULTS = re.compile(
    r"CPU used|waiting for a processor|memory$|disk busy|checkpoint age|dirty (pages|bytes)$|evict|pages flushed"
)
_CPU_PARTS = ("cpu_user_s_total", "cpu_system_s_total")
_MIB = float(1 << 20)


def points_of_a_trial(trials: int) -> int:
    """Return how many points a quantity has in each trial of a page."""
    return max(LEAST_POINTS, min(MOST_POINTS, POINTS_OF_A_PAGE // max(1, trials)))


def panels(observations: Observations, began_unix_s: float, points: int = MOST_POINTS) -> dict[str, object] | None:
    """Return the panels of a trial; those that are shown at first are marked as `default`.

    Args:
        began_unix_s: when the run phase began, which is second 0 of every plot over time.
        points: the most points of a line; a stretch keeps its lowest and its highest value, never a mean.

    Returns:
        `times`, in seconds; `panels`, each with `name`, `unit`, `group`, `default` and `lines`, pairs of a subject and
        its values, `None` if not observed, or a single value that all samples have. `None` without a sample.
    """
    during = (observations.at_unix_s >= began_unix_s) & ~_ends_early(observations.at_unix_s)
    if not during.any():
        return None
    by_quantity: dict[tuple[str, str, str], list[list[object]]] = {}
    seconds = observations.at_unix_s[during] - began_unix_s
    for group, name, unit, subject, values in _lines(observations):
        seen = values[during]
        if not np.isnan(seen).all():
            by_quantity.setdefault((group, name, unit), []).append([subject, _values(_thinned(seen, points))])
    order = list(dict.fromkeys(BANDS.values()))
    return {
        "times": _times(seconds, points),
        "panels": [
            {
                "name": name,
                "unit": unit,
                "group": group,
                "default": bool(_DEFAULTS.search(name)) and any(line != 0 for _, line in lines),
                "lines": lines,
            }
            for (group, name, unit), lines in sorted(
                by_quantity.items(), key=lambda item: (order.index(item[0][0]), item[0][1])
            )
        ],
    }


def _ends_early(at_unix_s: np.ndarray) -> np.ndarray:
    """Mark the last sample if it came soon after the one before: a rate over so short a time is no rate."""
    early = np.zeros(len(at_unix_s), dtype=bool)
    gaps_s = np.diff(at_unix_s)
    if len(gaps_s) > 1:
        early[-1] = gaps_s[-1] < np.median(gaps_s) / 2
    return early


def _lines(observations: Observations) -> Iterator[tuple[str, str, str, str, np.ndarray]]:
    """Yield every quantity as (group, name, unit, subject, values)."""
    for column in observations.names():
        band, _, rest = column.partition(".")
        subject, quantity = ("host", rest) if band in _WHOLE_HOST else rest.partition(".")[::2]
        if band not in BANDS or quantity == _CPU_PARTS[1]:
            continue
        if quantity == _CPU_PARTS[0]:
            rates = [observations.rate(part) for part in _cpu_parts(column) if part in observations.columns]
            yield "Processes", "CPU used", "cores", subject, np.sum(rates, axis=0)
            continue
        name, unit, factor = _described(band, quantity)
        if band in ("cgroup", "store") and name == "memory":
            name = "memory as the control group counts it" if band == "cgroup" else "memory as the store counts it"
        values = observations.rate(column) if quantity.endswith("_total") else observations.columns[column]
        if band == "waits":
            name, subject, unit = f"connections of {subject} by state", quantity.replace("_", " "), ""
        elif (
            limited := quantity.replace("_max_", "_")
        ) != quantity and f"{band}.{subject}.{limited}" in observations.columns:
            name, subject = _described(band, limited)[0], f"{subject}: limit"
        yield BANDS[band], name, unit, subject, values * factor


def _cpu_parts(user: str) -> tuple[str, str]:
    return user, user.replace(*_CPU_PARTS)


def _described(band: str, quantity: str) -> tuple[str, str, float]:
    """Return the name of a quantity, its unit, and the factor for its values."""
    base = quantity.removesuffix("_total")
    per_s = "/s" if base != quantity else ""
    unit, factor = per_s, 1.0
    if base.endswith("_bytes"):
        base, unit, factor = base.removesuffix("_bytes"), f"MiB{per_s}", 1 / _MIB
    elif base.endswith("_s"):
        base = base.removesuffix("_s")
        share = band == "pressure" or base == "busy"
        unit, factor = ("%", 100.0) if share else ("cores" if base.startswith("cpu") else f"s{per_s}", 1.0)
    elif base.endswith("_ratio"):
        unit = ""
    return _NAMES.get(base, base.replace("_", " ").replace("cpu", "CPU")), unit, factor


def _times(seconds: np.ndarray, points: int) -> list[float]:
    """Return the time of each point; two points of a stretch have the times of its first and its last sample."""
    if len(seconds) <= points:
        return [round(float(second), 2) for second in seconds]
    edges = _edges(len(seconds), points)
    ends = [(begin, end - 1) for begin, end in pairwise(edges)]
    return [round(float(seconds[index]), 2) for both in ends for index in both]


def _thinned(values: np.ndarray, points: int) -> np.ndarray:
    """Return at most this many values: the lowest and the highest of each stretch, in their order."""
    if len(values) <= points:
        return values
    edges = _edges(len(values), points)
    kept = []
    for begin, end in pairwise(edges):
        stretch = values[begin:end]
        if np.isnan(stretch).all():
            kept += [np.nan, np.nan]
        else:
            kept += [stretch[index] for index in sorted((int(np.nanargmin(stretch)), int(np.nanargmax(stretch))))]
    return np.array(kept)


def _edges(count: int, points: int) -> list[int]:
    edges: list[int] = np.linspace(0, count, points // 2 + 1).astype(int).tolist()
    return edges


def _values(values: np.ndarray) -> list[float | None] | float:
    """Return the values with four digits, or a single value if all samples have it."""
    written = [None if np.isnan(value) else float(f"{value:.4g}") for value in values]
    known = {value for value in written if value is not None}
    return known.pop() if len(known) == 1 else written
