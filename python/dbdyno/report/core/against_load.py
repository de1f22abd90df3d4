"""A figure of every trial against its load: by clients, or by the offered rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from html import escape
from statistics import median, median_low
from typing import Any, Literal

from dbdyno.report.core.bars import laid_out
from dbdyno.report.core.loads import Load, is_open, load_of
from dbdyno.report.core.plots import UNUSABLE, Figure, at_one_load, load_axes, meta
from dbdyno.report.core.series import Series, trials_of
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.core.words import evenness

Point = tuple[TrialDocument, Any, float]
"""A trial with its x, which at a single load is the system's name, and its y."""

LOWER_BOUND = "arrow-up-open"
"""The marker of a figure that its client limited: it is a lower bound."""
BAND_ALPHA = "26"
"""Opacity of a band, in hexadecimal behind its colour."""


def against_load(all_series: Sequence[Series], value: Callable[[TrialDocument], float | None], unit: str) -> Figure:
    """Return a line through the medians of complete trials and a point for each trial, by clients or by offered rate.

    At a single load each system has a bar in place of the line.
    """
    x_name: Literal["offered_per_s", "clients"] = "offered_per_s" if is_open(trials_of(all_series)) else "clients"
    alone = at_one_load(all_series)
    data = [_all_of_it(all_series)] if unit == "/s" and x_name == "offered_per_s" and not alone else []
    for series in all_series:
        known = [
            (trial, escape(series.short) if alone else trial[x_name], y)
            for trial in series.trials
            if (y := value(trial)) is not None and trial.get(x_name) is not None
        ]
        usable = [point for point in known if point[0]["state"] == "complete"]
        # A limited throughput is a lower bound; a slow client says nothing so simple about latencies.
        bounds = [point for point in usable if point[0]["client_limited"] and unit == "/s"]
        data += [
            *(_bar(series, usable) if alone else (*_bands(series, usable), *_medians(series, usable))),
            *_all_points(series, known, bounds, unit),
        ]
    figure = {"data": [trace for trace in data if trace["x"]], "layout": load_axes(all_series, unit)}
    return laid_out(figure) if alone else figure


def _lines(usable: Sequence[Point]) -> list[list[list[Point]]]:
    """Return the points of each line, repetitions together; in open loops each number of clients has a line."""
    lines: dict[int, dict[Load, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for point in usable:
        load = load_of(point[0])
        lines[load.clients if point[0].get("rate") else 0][load].append(point)
    return [[points for _, points in sorted(by_load.items())] for by_load in lines.values()]


def _medians(series: Series, usable: Sequence[Point]) -> list[Figure]:
    return [
        load_line(series, [median(x for _, x, _ in points) for points in line], [_middle(points) for points in line])
        for line in _lines(usable)
    ]


def _bar(series: Series, usable: Sequence[Point]) -> list[Figure]:
    """Return a bar: the median of the trials at the only load."""
    if not usable:
        return []
    common = {"type": "bar", "hoverinfo": "skip", "showlegend": False, "meta": meta(series)}
    bar = {"x": [escape(series.short)], "y": [_middle(usable)], "marker": {"color": series.colour, "opacity": 0.35}}
    return [common | bar]


def _middle(points: Sequence[Point]) -> float:
    # The lower median of an even number: percentiles are never averaged.
    return round(median_low(y for _, _, y in points), 4)


def _bands(series: Series, usable: Sequence[Point]) -> list[Figure]:
    """Return bands from the lowest to the highest repetition; none if every load ran once."""
    bands = []
    for line in _lines(usable):
        if all(len(points) == 1 for points in line):
            continue
        x = [median(x for _, x, _ in points) for points in line]
        low = [min(y for _, _, y in points) for points in line]
        high = [max(y for _, _, y in points) for points in line]
        outline = load_line(series, x + x[::-1], [round(y, 4) for y in high + low[::-1]])
        bands.append(outline | {"fill": "toself", "fillcolor": series.colour + BAND_ALPHA, "line": {"width": 0}})
    return bands


def _all_of_it(all_series: Sequence[Series]) -> Figure:
    """Return the line on which the whole offered rate is achieved."""
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


def load_line(series: Series, x: list[float], y: list[float]) -> Figure:
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
    """Return the trials as points, each kind with its mark; the first kind present stands in the legend."""
    by_mark = {
        "": [point for point in known if point[0]["state"] == "complete" and point not in bounds],
        LOWER_BOUND: list(bounds),
        "-open": [point for point in known if point[0]["state"] != "complete"],
    }
    named = next((mark for mark, points in by_mark.items() if points), "")
    return [trace for mark, points in by_mark.items() for trace in _points(series, points, unit, mark, mark == named)]


def _points(series: Series, known: Sequence[Point], unit: str, mark: str, named: bool) -> list[Figure]:
    """Return the trials of one kind; mark: `LOWER_BOUND`, or `-open` for trials that must not be used."""
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


def _hover(series: Series, trial: TrialDocument, figure: float, unit: str) -> str:
    repetition = f", repetition {trial['repeat']}" if (trial["repeat"] or 1) > 1 else ""
    rate = f", offered {escape(load.words)}" if (load := load_of(trial)).words else ""
    remark = "" if trial["state"] == "complete" else f"<br>{escape(trial['state'])}: not to be used"
    if trial["client_limited"]:
        remark += "<br>limited by the client: the store may do more"
    if unit == "/s" and (even := evenness(trial["stability"])):
        remark = f"<br>{even}{remark}"
    where = f"{escape(series.name)} [{escape(series.durability)}], {trial['clients']} clients{rate}{repetition}"
    return f"{where}<br><b>{figure:,.5g} {unit}</b>{remark}"
