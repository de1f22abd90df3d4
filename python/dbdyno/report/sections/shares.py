"""The share of a transaction's time in each of its operations, system beside system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from dbdyno.report.core.bars import laid_out
from dbdyno.report.core.loads import time_name, times_us
from dbdyno.report.core.plots import Figure
from dbdyno.report.core.series import Series, operations, places_of, representatives, trials_of
from dbdyno.report.core.times import TimeName
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.results.operations import CLIENTS, KIND, NEITHER, READS, WRITES, group_of

COLOURS = {
    READS: ("#0072b2", "#56b4e9", "#9ad0f0", "#c7e3f5"),
    WRITES: ("#d55e00", "#e69f00", "#f0c566", "#f7e0b0"),
    NEITHER: ("#009e73", "#7fceb9", "#7d6bc9", "#b9aee8", "#cc79a7", "#e5bcd3", "#8a8f98", "#c4c7cb"),
}
"""Colours of reads, of writes, and of statements that may be either, each from the first operation on."""


def shares(all_series: Sequence[Series]) -> Figure:
    """Return the plot: for each load a bar a system, reads blue, writes orange; the page shows one load.

    It has no data if there is only one operation, or if there are transactions of several kinds, whose dozens of
    operations could not be distinguished.
    """
    every, places, time = operations(all_series), places_of(all_series), time_name(trials_of(all_series))
    colours = _colours(every)
    data: list[Figure] = []
    for series in all_series if len(every) > 1 and KIND not in every.values() else ():
        for load, trial in representatives(series).items():
            named = {bar["name"] for bar in data if bar["meta"]["c"] == places[load]}
            data += [
                {
                    "type": "bar",
                    "x": [escape(series.short)],
                    "y": [round(100 * share, 2)],
                    "name": escape(name),
                    "showlegend": escape(name) not in named,
                    "marker": {"color": colours[name]},
                    "hovertemplate": "%{y:.1f} %",
                    "meta": {"s": series.index, "c": places[load]},
                }
                for name, share in _shares(trial, time).items()
            ]
    axes = {"xaxis": {"type": "category"}, "yaxis": {"rangemode": "tozero", "range": [0, 100], "ticksuffix": " %"}}
    return laid_out({"data": data, "layout": axes | {"barmode": "stack", "hovermode": "x unified", "showlegend": True}})


def _shares(trial: TrialDocument, time: TimeName) -> dict[str, float]:
    """Return the share of each operation in the sum of all their times, 0 to 1."""
    spent_us = {
        name: operation["count"] * (times_us(operation, time)["mean"] or 0.0)
        for name, operation in trial["operations"].items()
        if operation["operation"] != CLIENTS
    }
    total_us = sum(spent_us.values())
    return {name: spent / total_us for name, spent in spent_us.items()} if total_us else {}


def _colours(every: Mapping[str, str | None]) -> dict[str, str]:
    counted = dict.fromkeys(COLOURS, 0)
    colour_of = {}
    for name, kind in every.items():
        group = group_of(kind)
        colour_of[name] = COLOURS[group][counted[group] % len(COLOURS[group])]
        counted[group] += 1
    return colour_of
