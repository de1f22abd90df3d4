"""Of a transaction of several operations: the share of its time in each, system beside system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dbdyno.report.loads import Document, time_name, times_us
from dbdyno.report.series import KIND, READS, Series, load_labels, operations, places_of, representatives, trials_of

COLOURS = {True: ("#0072b2", "#56b4e9", "#9ad0f0", "#c7e3f5"), False: ("#d55e00", "#e69f00", "#f0c566", "#f7e0b0")}
"""Of reads and of writes, each from the first operation on."""
MOST_BARS = 32
"""More cannot be read; of a longer sweep each system has its highest load."""


def shares(all_series: Sequence[Series]) -> dict[str, Any]:
    """Return the plot: a bar a system, reads blue and writes orange.

    It has no data where there is one operation only, or where there are transactions of several kinds: the dozens of
    operations of these could not be told apart.
    """
    every, places = operations(all_series), places_of(all_series)
    colours, labels = _colours(every), load_labels(all_series)
    crowded = len(all_series) * len(labels) > MOST_BARS
    data: list[dict[str, Any]] = []
    for series in all_series if len(every) > 1 and KIND not in every.values() else ():
        for load, trial in list(representatives(series).items())[-1 if crowded else 0 :]:
            name_of_bar = escape(series.name) + (f", {escape(labels[load])}" if len(labels) > 1 else "")
            data += [
                {
                    "type": "bar",
                    "x": [name_of_bar],
                    "y": [round(100 * share, 2)],
                    "name": escape(name),
                    "showlegend": name not in {one["name"] for one in data},
                    "marker": {"color": colours[name]},
                    "hovertemplate": "%{y:.1f} %",
                    "meta": {"s": series.place, "c": places[load]},
                }
                for name, share in _shares(trial, time_name(trials_of(all_series))).items()
            ]
    axes = {"xaxis": {"type": "category"}, "yaxis": {"rangemode": "tozero", "range": [0, 100], "ticksuffix": " %"}}
    return {"data": data, "layout": axes | {"barmode": "stack", "hovermode": "x unified"}}


def _shares(trial: Document, time: str) -> dict[str, float]:
    """The share of each operation in the sum of all their times, 0 to 1."""
    spent_us = {
        name: operation["count"] * (times_us(operation, time)["mean"] or 0.0)
        for name, operation in trial["operations"].items()
    }
    total_us = sum(spent_us.values())
    return {name: spent / total_us for name, spent in spent_us.items()} if total_us else {}


def _colours(every: Mapping[str, str | None]) -> dict[str, str]:
    counted = {True: 0, False: 0}
    found = {}
    for name, kind in every.items():
        reads = kind in READS
        found[name] = COLOURS[reads][counted[reads] % len(COLOURS[reads])]
        counted[reads] += 1
    return found
