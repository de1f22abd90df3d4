"""Parts that every plot of the report is made of.

Plots are plain Plotly figures; the page gives them their theme, so they hold no colour of text or grid. A trace's
`meta` has the indices of its series (`s`) and of its load (`c`); the page hides those not chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log2
from typing import Any

from dbdyno.report.core.loads import is_open, load_of, time_name, times_us
from dbdyno.report.core.series import Series, load_labels, trials_of

Figure = dict[str, Any]
UNUSABLE = "#8a8f98"
"""The colour of trials that are not complete."""
ERRORS = "#d62839"
LABELS_ON_A_PHONE = 13


def plot_unit(all_series: Sequence[Series]) -> tuple[str, float]:
    """Return the unit of all plotted latencies, and its length in µs. Axes begin at zero, so the longest latency
    decides."""
    name = time_name(trials_of(all_series))
    p99_us = [times_us(trial["transaction"], name)["p99"] for trial in trials_of(all_series)]
    return unit_of(max((time for time in p99_us if time is not None), default=0))


def unit_of(longest_us: float) -> tuple[str, float]:
    """Return the unit in which times up to this are drawn, and its length in µs."""
    return ("s", 1e6) if longest_us >= 1e7 else ("ms", 1e3) if longest_us >= 1e4 else ("µs", 1.0)


def scaled(value: float | None, unit: float) -> float | None:
    """Return a value in another unit, rounded for a plot."""
    return None if value is None else round(value / unit, 4)


def meta(series: Series, load_index: int | None = None) -> dict[str, int | None]:
    """Return the indices of a trace's series and of its load, `None` if it belongs to all loads."""
    return {"s": series.index, "c": load_index}


def load_axes(all_series: Sequence[Series], suffix: str) -> Figure:
    counts = sorted({load_of(trial).clients for trial in trials_of(all_series)})
    if at_one_load(all_series):
        return {
            "xaxis": {"type": "category"},
            "yaxis": {"rangemode": "tozero", "ticksuffix": f" {suffix}" if suffix != "/s" else ""},
        }
    if is_open(trials_of(all_series)):
        return {
            "xaxis": {"rangemode": "tozero", "title": {"text": "offered, transactions/s"}, "separatethousands": True},
            "yaxis": {"rangemode": "tozero", "ticksuffix": f" {suffix}" if suffix != "/s" else ""},
        }
    return {
        "xaxis": {
            "type": "log",
            "tickvals": counts,
            "ticktext": labels_with_room(counts),
            "tickangle": 0,
            "title": {"text": "clients (logarithmic)"},
        },
        "yaxis": {"rangemode": "tozero", "ticksuffix": f" {suffix}" if suffix != "/s" else ""},
    }


def at_one_load(all_series: Sequence[Series]) -> bool:
    """Return whether all trials have the same load: plots then show systems side by side."""
    return len(load_labels(all_series)) == 1


def labels_with_room(counts: Sequence[int]) -> list[str]:
    """Return a label for each count on a logarithmic axis, empty if it would touch its neighbour on a phone."""
    gap = log2(counts[-1] / counts[0]) / LABELS_ON_A_PHONE if counts else 0
    labels, last = [], -inf
    for count in counts:
        fits = log2(count) - last >= gap
        last = log2(count) if fits else last
        labels.append(str(count) if fits else "")
    return labels
