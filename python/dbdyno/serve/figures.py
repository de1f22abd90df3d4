"""The plots of a trial that runs, in the form that Plotly takes; the page adds its theme."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.report.core.plots import ERRORS, Figure, scaled, unit_of
from dbdyno.report.sections.over_time import MARKERS_UP_TO, budget_figure, thinned, warm_up_shade
from dbdyno.results.conclusions import Budget
from dbdyno.results.model import Interval

THROUGHPUT, OFFERED, P50, P99 = "#0072b2", "#8a8f98", "#56b4e9", "#d55e00"


def figures(seconds: Sequence[Interval], planned_s: float, budget: Budget | None) -> dict[str, Figure]:
    """Return the plots of a trial so far: `throughput`, `latency`, `errors` and, if it is known, `budget`.

    Args:
        planned_s: how long the trial is to be, warm-up included; the axis reaches that far.
        budget: where its operations were, if that is known.
    """
    whole = [interval for interval in seconds if interval.seconds > 0]
    axis = _axis(whole, planned_s)
    # The first plot names the warm-up; in the others the name would lie on their legends.
    unnamed = axis | {"shapes": [{key: shape[key] for key in shape if key != "label"} for shape in axis["shapes"]]}
    plots = {
        "throughput": {"data": _throughput(whole), "layout": axis | _up()},
        "latency": _latency(whole, unnamed),
        "errors": {"data": [_errors(whole)], "layout": unnamed | _up(most_ticks=3)},
    }
    if drawn := budget_figure(budget):
        plots["budget"] = drawn | {"layout": drawn["layout"] | {"xaxis": axis["xaxis"]}}
    return plots


def _axis(seconds: Sequence[Interval], planned_s: float) -> Figure:
    # Its own count, not the plan's: a load client may have skipped the warm-up.
    warmup_s = sum(interval.seconds for interval in seconds if interval.warmup)
    end_s = max(planned_s, sum(interval.seconds for interval in seconds))
    return {
        "xaxis": {"range": [0, end_s], "title": {"text": "seconds since the trial began"}, "zeroline": False},
        "hovermode": "x unified",
        "shapes": warm_up_shade(round(warmup_s, 2)),
    }


def _up(suffix: str = "", most_ticks: int = 6) -> Figure:
    # The caption above a plot names its axis: a title beside wide figures lies on them.
    return {"yaxis": {"rangemode": "tozero", "title": {}, "ticksuffix": suffix, "nticks": most_ticks}}


def _throughput(seconds: Sequence[Interval]) -> list[Figure]:
    completed = _line(
        "completed",
        THROUGHPUT,
        seconds,
        [round(interval.completed / interval.seconds, 1) for interval in seconds],
        "/s",
    )
    due = [
        None if interval.scheduled is None else round(interval.scheduled / interval.seconds, 1) for interval in seconds
    ]
    offered = _line("offered", OFFERED, seconds, due, "/s", "dot")
    return [completed] if all(rate is None for rate in due) else [offered, completed]


def _latency(seconds: Sequence[Interval], axis: Figure) -> Figure:
    times_us = {
        name: [None if time_ns is None else time_ns / 1000 for time_ns in times_ns]
        for name, times_ns in (
            ("p50", [interval.p50_ns for interval in seconds]),
            ("p99", [interval.p99_ns for interval in seconds]),
        )
    }
    unit, length_us = unit_of(max((time for times in times_us.values() for time in times if time), default=0.0))
    data = [
        _line(name, colour, seconds, [scaled(time, length_us) for time in times_us[name]], f" {unit}")
        for name, colour in (("p99", P99), ("p50", P50))
    ]
    return {"data": data, "layout": axis | _up(f" {unit}") | {"showlegend": True}}


def _errors(seconds: Sequence[Interval]) -> Figure:
    counts: list[float | None] = [float(sum(interval.errors.values())) for interval in seconds]
    return _line("errors", ERRORS, seconds, counts, "")


def _line(
    name: str, colour: str, seconds: Sequence[Interval], values: Sequence[float | None], unit: str, dash: str = "solid"
) -> Figure:
    x, y = thinned([interval.second + interval.seconds / 2 for interval in seconds], values)
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(x) <= MARKERS_UP_TO else "lines",
        "x": x,
        "y": y,
        "name": name,
        "line": {"color": colour, "width": 1.5, "dash": dash},
        "marker": {"size": 4},
        "hovertemplate": f"%{{y:,.5g}}{unit}",
    }
