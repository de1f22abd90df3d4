"""The latency of each operation of a transaction, and its share of the transaction's time."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dbdyno.report.core.loads import time_name, times_us
from dbdyno.report.core.looks import bar_marker
from dbdyno.report.core.page import PERCENTILES, Page
from dbdyno.report.core.plots import Figure, meta, plot_unit, scaled
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, hovermode, operations, places_of, representatives, trials_of
from dbdyno.report.sections.kinds import kinds_of
from dbdyno.report.sections.shares import shares
from dbdyno.results.operations import group_of


def part(page: Page) -> Part | None:
    """Return a plot for each operation, and the shares of time."""
    plots = figures(page.series) if page.clients_loaded else {}
    named = enumerate(operations(page.series).items())
    drawn = [(id, name, kind) for index, (name, kind) in named if (id := f"operation-{index}") in plots]
    if not drawn:
        return None
    kinds = any(kinds_of(trial) for trial in page.document["trials"])
    return Part({"operations": drawn, "kinds": kinds, "group_of": group_of, "steps": "steps" in plots}, plots)


SECTION = Section("operations.html.j2", part, {"steps": "Share of the transactions' time in each operation"})


def figures(all_series: Sequence[Series]) -> dict[str, Figure]:
    """Return the plots by id: `steps`, and `operation-N` for each operation; one without data is left out."""
    unit, length_us = plot_unit(all_series)
    plots = {"steps": shares(all_series)}
    for index, operation in enumerate(operations(all_series)):
        plots[f"operation-{index}"] = _operation(all_series, operation, unit, length_us)
    return {id: plot for id, plot in plots.items() if plot["data"]}


def _operation(all_series: Sequence[Series], name: str, unit: str, length_us: float) -> Figure:
    data = []
    places, shown_time = places_of(all_series), time_name(trials_of(all_series))
    for series in all_series:
        for load, trial in representatives(series).items():
            if (operation := trial["operations"].get(name)) is None:
                continue
            times = times_us(operation, shown_time)
            known = {label: times[key] for key, label in PERCENTILES.items() if times.get(key) is not None}
            if known:
                data.append(
                    {
                        "type": "bar",
                        "x": list(known),
                        "y": [scaled(time, length_us) for time in known.values()],
                        "marker": bar_marker(series.look),
                        "name": escape(series.short),
                        "hovertemplate": f"%{{y:,.4g}} {unit}, of {operation['count']:,}",
                        "meta": meta(series, places[load]),
                    }
                )
    axes = {"xaxis": {"type": "category", "categoryarray": ["p50", "p95", "p99", "p99.9"], "categoryorder": "array"}}
    layout = axes | {"yaxis": {"rangemode": "tozero", "ticksuffix": f" {unit}"}, "hovermode": hovermode(all_series)}
    return {"data": data, "layout": layout | {"barmode": "group"}}
