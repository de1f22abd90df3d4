"""The report's plots as plain Plotly figures; the page gives them their theme, so they hold no colour of text or grid.

A trace's `meta` says to which series (`s`) and load (`c`, its place among them) it belongs; the page hides those not
chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from html import escape
from math import inf, log2
from statistics import median, median_low
from typing import Any

import numpy as np

from dbdyno.report.bars import laid_out
from dbdyno.report.loads import Document, Load, is_open, load_of, time_name, times_us
from dbdyno.report.looks import bar_marker
from dbdyno.report.series import Series, hovermode, load_labels, operations, places_of, representatives, trials_of
from dbdyno.report.shares import shares
from dbdyno.report.words import evenness, label_of
from dbdyno.stats.scalability import Law

Figure = dict[str, Any]
Point = tuple[Document, Any, float]
"""A trial with its place on the x axis, a number or at one load the system's name, and on the y axis."""

LOWER_BOUND = "arrow-up-open"
"""The marker of a figure that its client limited: the store's lies somewhere above."""
UNUSABLE = "#8a8f98"
"""What is drawn of a trial that is not complete."""
ERRORS = "#d62839"
LABELS_ON_A_PHONE = 13
FIT_POINTS = 40
BAND_ALPHA = "26"
"""Opacity of a band, in hexadecimal behind its colour."""


def figures(all_series: Sequence[Series], sweeps: Sequence[Document] = ()) -> dict[str, Figure]:
    """Every plot of the report but those over time, by the id of its place in the page; one without data is left out.

    Args:
        sweeps: what was fitted to the throughput of each system, as `dbdyno.report.sweeps.sweeps` has it.
    """
    unit, length_us = plot_unit(all_series)
    name = time_name(trials_of(all_series))

    def percentile(key: str) -> Callable[[Document], float | None]:
        return lambda trial: scaled(times_us(trial["transaction"], name)[key], length_us)

    found = {
        "throughput": _against_load(all_series, lambda trial: trial["throughput_per_s"], "/s"),
        "latency-p50": _against_load(all_series, percentile("p50"), unit),
        "latency-p99": _against_load(all_series, percentile("p99"), unit),
        "cost": _cost(all_series),
    }
    if not is_open(trials_of(all_series)):
        found["throughput"]["data"] += _fits(all_series, sweeps)
    found["steps"] = shares(all_series)
    for place, operation in enumerate(operations(all_series)):
        found[f"operation-{place}"] = _operation(all_series, operation, unit, length_us)
    return {name: figure for name, figure in found.items() if figure["data"]}


def plot_unit(all_series: Sequence[Series]) -> tuple[str, float]:
    """The unit of all plotted latencies: axes begin at zero, so the longest decides. Returns name and length in µs."""
    name = time_name(trials_of(all_series))
    p99_us = [times_us(trial["transaction"], name)["p99"] for trial in trials_of(all_series)]
    longest_us = max((time for time in p99_us if time is not None), default=0)
    return ("s", 1e6) if longest_us >= 1e7 else ("ms", 1e3) if longest_us >= 1e4 else ("µs", 1.0)


def scaled(value: float | None, unit: float) -> float | None:
    """Return a value in another unit, rounded as a plot needs it."""
    return None if value is None else round(value / unit, 4)


def meta(series: Series, place: int | None = None) -> dict[str, int | None]:
    """Return to which series a trace belongs, and to which load if not to all."""
    return {"s": series.place, "c": place}


def _axes(all_series: Sequence[Series], suffix: str) -> Figure:
    counts = sorted({trial["clients"] for trial in trials_of(all_series)})
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
    """Whether all was measured at one load, so that there is nothing to draw it against: systems stand side by side."""
    return len(load_labels(all_series)) == 1


def labels_with_room(counts: Sequence[int]) -> list[str]:
    """A label for each count on a logarithmic axis, empty where it would touch its neighbour on a phone."""
    gap = log2(counts[-1] / counts[0]) / LABELS_ON_A_PHONE if counts else 0
    labels, last = [], -inf
    for count in counts:
        fits = log2(count) - last >= gap
        last = log2(count) if fits else last
        labels.append(str(count) if fits else "")
    return labels


def _against_load(all_series: Sequence[Series], value: Callable[[Document], float | None], unit: str) -> Figure:
    """A line through the medians of complete trials, and every trial as a point, by clients or by what was offered.

    At one load a bar for each system in place of the line.
    """
    x_name = "offered_per_s" if is_open(trials_of(all_series)) else "clients"
    alone = at_one_load(all_series)
    data = [_all_of_it(all_series)] if unit == "/s" and x_name == "offered_per_s" and not alone else []
    for series in all_series:
        known = [
            (trial, escape(series.short) if alone else trial[x_name], figure)
            for trial in series.trials
            if (figure := value(trial)) is not None and trial.get(x_name) is not None
        ]
        usable = [point for point in known if point[0]["state"] == "complete"]
        # Of throughput the store's lies above; of its latencies a slow client says nothing so simple.
        bounds = [point for point in usable if point[0]["client_limited"] and unit == "/s"]
        data += [
            *(_bar(series, usable) if alone else (*_bands(series, usable), *_medians(series, usable))),
            *_all_points(series, known, bounds, unit),
        ]
    figure = {"data": [trace for trace in data if trace["x"]], "layout": _axes(all_series, unit)}
    return laid_out(figure) if alone else figure


def _lines(usable: Sequence[Point]) -> list[list[list[Point]]]:
    """The points of each line, repetitions together: a line for each number of clients over the rates, else one."""
    lines: dict[int, dict[Load, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for point in usable:
        lines[point[0]["clients"] if point[0].get("rate") else 0][load_of(point[0])].append(point)
    return [[points for _, points in sorted(by_load.items())] for by_load in lines.values()]


def _medians(series: Series, usable: Sequence[Point]) -> list[Figure]:
    return [
        _line(series, [median(x for _, x, _ in points) for points in line], [_middle(points) for points in line])
        for line in _lines(usable)
    ]


def _bar(series: Series, usable: Sequence[Point]) -> list[Figure]:
    """The median of the trials at the one load."""
    if not usable:
        return []
    common = {"type": "bar", "hoverinfo": "skip", "showlegend": False, "meta": meta(series)}
    bar = {"x": [escape(series.short)], "y": [_middle(usable)], "marker": {"color": series.colour, "opacity": 0.35}}
    return [common | bar]


def _middle(points: Sequence[Point]) -> float:
    # The lower one of an even number: percentiles are never averaged.
    return round(median_low(y for _, _, y in points), 4)


def _bands(series: Series, usable: Sequence[Point]) -> list[Figure]:
    """From the lowest to the highest repetition; nothing where every load was run once."""
    bands = []
    for line in _lines(usable):
        if all(len(points) == 1 for points in line):
            continue
        x = [median(x for _, x, _ in points) for points in line]
        low = [min(y for _, _, y in points) for points in line]
        high = [max(y for _, _, y in points) for points in line]
        outline = _line(series, x + x[::-1], [round(y, 4) for y in high + low[::-1]])
        bands.append(outline | {"fill": "toself", "fillcolor": series.colour + BAND_ALPHA, "line": {"width": 0}})
    return bands


def _fits(all_series: Sequence[Series], sweeps: Sequence[Document]) -> list[Figure]:
    """The law that was fitted to each sweep, thin and dotted, as far as was measured and no further."""
    fits = []
    for series in all_series:
        counts = [trial["clients"] for trial in series.trials]
        for sweep in sweeps:
            if sweep["law"] and (label_of(sweep), sweep["workload"]) == (series.label, series.workload):
                clients = np.geomspace(min(counts), max(counts), FIT_POINTS)
                rates = Law(sweep["law"], **sweep["parameters"]).at(clients)
                line = _line(series, clients.round(3).tolist(), rates.round(2).tolist())
                line["line"] = {"color": series.colour, "width": 1, "dash": "dot"}
                fits.append(line | {"name": f"{escape(series.short)}: {escape(sweep['law'])}"})
    return fits


def _all_of_it(all_series: Sequence[Series]) -> Figure:
    """The line on which all that is offered is achieved."""
    most = max((trial.get("offered_per_s") or 0 for trial in trials_of(all_series)), default=0)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [0, most],
        "y": [0, most],
        "line": {"color": UNUSABLE, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"s": None, "c": None},
    }


def _line(series: Series, x: list[Any], y: list[Any]) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"color": series.colour, "width": 2, "dash": series.look.dash},
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": meta(series),
    }


def _all_points(series: Series, known: Sequence[Point], bounds: Sequence[Point], unit: str) -> list[Figure]:
    """The trials as points, each kind with its mark; the first kind that there is stands in the legend."""
    by_mark = {
        "": [point for point in known if point[0]["state"] == "complete" and point not in bounds],
        LOWER_BOUND: list(bounds),
        "-open": [point for point in known if point[0]["state"] != "complete"],
    }
    named = next((mark for mark, points in by_mark.items() if points), "")
    return [trace for mark, points in by_mark.items() for trace in _points(series, points, unit, mark, mark == named)]


def _points(series: Series, known: Sequence[Point], unit: str, mark: str, named: bool) -> list[Figure]:
    """The trials of one kind; mark: `LOWER_BOUND`, or `-open` of those that are not to be used."""
    marker = {"size": 8, "color": series.colour, "symbol": series.look.symbol}
    if mark == LOWER_BOUND:
        marker |= {"symbol": LOWER_BOUND, "size": 13, "line": {"width": 2}}
    elif mark:
        marker |= {"color": UNUSABLE, "symbol": series.look.symbol + mark, "size": 11, "line": {"width": 2}}
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [x for _, x, _ in known],
            "y": [round(figure, 4) for _, _, figure in known],
            "marker": marker,
            "text": [_hover(series, trial, figure, unit) for trial, _, figure in known],
            "hoverinfo": "text",
            "name": escape(series.short),
            "showlegend": named,
            "meta": meta(series),
        }
    ]


def _hover(series: Series, trial: Document, figure: float, unit: str) -> str:
    repetition = f", repetition {trial['repeat']}" if (trial["repeat"] or 1) > 1 else ""
    rate = f", offered {escape(load.words)}" if (load := load_of(trial)).words else ""
    remark = "" if trial["state"] == "complete" else f"<br>{escape(trial['state'])}: not to be used"
    if trial["client_limited"]:
        remark += "<br>limited by the client: the store may do more"
    if unit == "/s":
        remark = f"<br>{evenness(trial['stability'])}{remark}"
    where = f"{escape(series.name)} [{escape(series.durability)}], {trial['clients']} clients{rate}{repetition}"
    return f"{where}<br><b>{figure:,.5g} {unit}</b>{remark}"


def _operation(all_series: Sequence[Series], name: str, unit: str, length_us: float) -> Figure:
    data = []
    places, shown_time = places_of(all_series), time_name(trials_of(all_series))
    for series in all_series:
        for load, trial in representatives(series).items():
            operation: Mapping[str, Any] = trial["operations"].get(name, {})
            times = times_us(operation, shown_time)
            shown = {"p50": "p50", "p95": "p95", "p99": "p99", "p999": "p99.9"}
            known = {label: times[key] for key, label in shown.items() if times.get(key) is not None}
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


def _cost(all_series: Sequence[Series]) -> Figure:
    """Bars side by side by system, the server's CPU stacked on the client's."""
    data = []
    labels = load_labels(all_series)
    for series in all_series:
        by_load = representatives(series)
        trials = by_load.values()
        client = [trial["client_cpu_us_per_transaction"] or 0 for trial in trials]
        server = [trial["server_cpu_us_per_transaction"] for trial in trials]
        common = {
            "type": "bar",
            "x": [labels[load] for load in by_load],
            "offsetgroup": str(series.place),
            "meta": meta(series),
        }
        data.append(_cost_bars(series, common, client, None, "client"))
        if any(server):
            data.append(_cost_bars(series, common, [used or 0 for used in server], client, "server"))
    order = {"type": "category", "categoryorder": "array", "categoryarray": list(labels.values())}
    title = "offered" if is_open(trials_of(all_series)) else "clients"
    layout: Figure = {
        "xaxis": order | {"title": {"text": title}},
        "barmode": "group",
        "hovermode": hovermode(all_series),
    }
    return {
        "data": [trace for trace in data if trace["x"]],
        "layout": layout | {"yaxis": {"rangemode": "tozero", "ticksuffix": " µs"}},
    }


def _cost_bars(series: Series, common: Figure, used_us: list[float], base: list[float] | None, who: str) -> Figure:
    bars = common | {
        "y": [round(used, 3) for used in used_us],
        "customdata": [round(used, 3) for used in used_us],
        "name": f"{escape(series.short)}: {who}",
        "hovertemplate": "%{customdata:,.4g} µs",
        "marker": bar_marker(series.look),
    }
    if base is not None:
        bars["base"] = base
        pale = f"{series.colour}55"
        bars["marker"] = {
            "pattern": {"shape": "/", "size": 6, "solidity": 0.35, "fgcolor": series.colour, "bgcolor": pale}
        }
    return bars
