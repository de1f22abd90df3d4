"""Plots over time: throughput, latency and where operations were, on one axis of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Literal, TypedDict

import numpy as np

from dbdyno.report.core.loads import Load, is_open, load_of, time_name
from dbdyno.report.core.page import PERCENTILES, Page
from dbdyno.report.core.panels import panels, points_of_a_trial
from dbdyno.report.core.plots import ERRORS, UNUSABLE, Figure, meta, plot_unit, scaled
from dbdyno.report.core.recordings import Recordings
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, hovermode, places_of, representatives, trials_of
from dbdyno.report.core.steadiness import drift
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.results.conclusions import Budget
from dbdyno.results.records import COARSE_BITS
from dbdyno.stats.histogram import bucket_bounds
from dbdyno.verdict.limits import BANDS

MARKERS_UP_TO = 90
"""Points of a series over time; with more, markers hide the line."""
MOST_POINTS = 600
MOST_COLUMNS, MOST_ROWS = 120, 40
"""The cells of a heat map: nobody could distinguish more, and a report of a hundred trials would be large."""
COLOURS = {band.name: band.colour for band in BANDS}
EVENTS = "#c77700"
"""The colour of events."""
_OF_TIME: Figure = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
"""A shape from a time to a time, as high as the plot."""
_TIMES_US: Mapping[str, Literal["p50_us", "p95_us", "p99_us", "p999_us"]] = {
    "p50": "p50_us",
    "p95": "p95_us",
    "p99": "p99_us",
    "p999": "p999_us",
}
"""The key of each percentile in a second."""
_ABOVE: Figure = {"yanchor": "bottom", "font": {"size": 11}}
"""The label of a shape, above the plot, if no line runs through it."""
CHECKPOINT_HEIGHT = 0.12
"""The height of a checkpoint's line, as a share of the plot's: thirty full lines would hide the throughput."""


class AlonePlots(TypedDict):
    """The plots of a system alone, at one load.

    shapes: the steady state and the checkpoints in the plot of throughput; words: both in words. heat, budget: `None`
    if not observed. observed: as `dbdyno.report.core.panels.panels`.
    """

    shapes: list[Figure]
    events: list[Figure]
    words: str
    heat: Figure | None
    budget: Figure | None
    observed: dict[str, object] | None


def by_load(all_series: Sequence[Series], recordings: Recordings | None = None) -> dict[int, dict[str, Figure]]:
    """Return the plots of all systems, by the index of their load: `timeline`, `timeline-stalls` if any trial has
    stalls worth a mention, `timeline-p50` and the other percentiles, `timeline-hits` and `timeline-old`, the old row
    versions."""
    old_rows = (recordings or Recordings()).old_rows
    unit, length_us = plot_unit(all_series)
    beside_open = is_open(trials_of(all_series))
    plots: dict[int, dict[str, Figure]] = {}
    for load, load_index in places_of(all_series).items():
        rates: list[Figure] = []
        stalls: list[Figure] = []
        times: dict[str, list[Figure]] = {percentile: [] for percentile in PERCENTILES}
        old: list[Figure] = []
        hits: list[Figure] = []
        for series, trial, stands in _of_load(all_series, load):
            rates += _throughput(series, trial, stands)
            stalls += _stalls(series, trial, stands)
            hits += _hits(series, trial, stands)
            if not beside_open or trial.get("rate"):
                for percentile, lines in times.items():
                    lines.extend(_latency(series, trial, stands, percentile, unit, length_us))
            if seen := old_rows(trial["trial"]):
                x, y = thinned(*seen)
                old.append(_line(series, trial, stands, [], "") | {"x": x, "y": y})
        plots[load_index] = {
            name: {"data": data, "layout": _axes(all_series, suffix)}
            for name, data, suffix in (
                ("timeline", rates, ""),
                ("timeline-stalls", stalls, " ms"),
                *((f"timeline-{percentile}", lines, f" {unit}") for percentile, lines in times.items()),
                ("timeline-old", old, ""),
                ("timeline-hits", hits, " %"),
            )
            if data
        }
    return plots


def _of_load(all_series: Sequence[Series], load: Load) -> Iterator[tuple[Series, TrialDocument, bool]]:
    """Yield every trial at a load, and whether it represents its repetitions."""
    for series in all_series:
        stands = representatives(series).get(load)
        for trial in series.trials:
            if load_of(trial) == load and trial["timeline"]:
                yield series, trial, trial is stands or stands is None


def by_trial(all_series: Sequence[Series], recordings: Recordings) -> dict[tuple[int, int], AlonePlots]:
    """Return the plots of single systems, by the indices of series and load."""
    contents: dict[tuple[int, int], AlonePlots] = {}
    places = places_of(all_series)
    points = points_of_a_trial(sum(len(representatives(series)) for series in all_series))
    for series in all_series:
        for load, trial in representatives(series).items():
            observed = recordings.observed(trial["trial"])
            latencies, checkpoints = recordings.latencies(trial["trial"]), recordings.checkpoints(trial["trial"])
            contents[series.index, places[load]] = {
                "shapes": [
                    *_steady(series, trial),
                    *_profiled(trial),
                    *_checkpoint_lines(series, checkpoints or ()),
                ],
                "events": list(_event_shades(trial)),
                "words": _steady_words(trial, checkpoints),
                "heat": _heat(all_series, latencies) if latencies is not None and latencies.size else None,
                "budget": budget_figure(trial.get("time_budget")),
                "observed": panels(*observed, points) if observed else None,
            }
    return contents


def _steady(series: Series, trial: TrialDocument) -> Iterator[Figure]:
    """Mark the steady state's class over its seconds, shaded, and the cut (docs/statistics.md, section 2)."""
    state = trial["steady_state"]
    # With an automatic warm-up, the time before the cut is warm-up already.
    cut_s = state["cut_s"] if state["steady"] and not state["applied"] else 0
    measured_s = trial["seconds"] + _profiled_s(trial)
    begin, end = (round(trial["warmup_seconds"] + after_s, 1) for after_s in (cut_s, measured_s))
    shade = {"fillcolor": series.colour, "opacity": 0.13} if state["steady"] else {"fillcolor": "rgba(0,0,0,0)"}
    label = {"text": escape(_steady_class(trial)), "textposition": "top right", **_ABOVE}
    yield _OF_TIME | shade | {"type": "rect", "x0": begin, "x1": end, "line": {"width": 0}, "label": label}
    if cut_s:
        yield _upright(begin, {"color": series.colour, "width": 1.5, "dash": "dash"})


def _profiled(trial: TrialDocument) -> Iterator[Figure]:
    """Mark each second in which stacks were recorded: no figure has it."""
    for second in trial["timeline"]:
        if second.get("profiled"):
            begin, end = second["second"], second["second"] + second["seconds"]
            yield _left_out(begin, end)


def _left_out(begin_s: float, end_s: float) -> Figure:
    shade = {"type": "rect", "x0": begin_s, "x1": end_s, "fillcolor": UNUSABLE, "opacity": 0.18}
    return _OF_TIME | shade | {"line": {"width": 0}}


def _profiled_s(trial: TrialDocument) -> float:
    return sum(second["seconds"] for second in trial["timeline"] if second.get("profiled"))


def _checkpoint_lines(series: Series, at_s: Sequence[float]) -> list[Figure]:
    line = {"color": series.colour, "width": 1.5, "dash": "dot"}
    return [_upright(checkpoint_s, line) | {"y1": CHECKPOINT_HEIGHT} for checkpoint_s in at_s]


def _event_lines(trials: Sequence[TrialDocument]) -> Iterator[Figure]:
    """Mark the second of each event, with its name."""
    for name, at_s in dict.fromkeys(
        (event["name"], event["at"]) for trial in trials for event in trial.get("events", ())
    ):
        label = {"text": escape(name), "textposition": "end", "textangle": 0, **_ABOVE}
        yield _upright(at_s, {"color": EVENTS, "width": 1.5}) | {"label": label}


def _event_shades(trial: TrialDocument) -> Iterator[Figure]:
    """Shade the time of each event."""
    for event in trial.get("events", ()):
        if event["begin_s"] is not None:
            shade = {"fillcolor": EVENTS, "opacity": 0.2, "line": {"color": EVENTS, "width": 1}}
            yield _OF_TIME | shade | {"type": "rect", "x0": event["begin_s"], "x1": event["end_s"]}


def _upright(at_s: float, line: Figure) -> Figure:
    return _OF_TIME | {"type": "line", "x0": at_s, "x1": at_s, "line": line}


def _steady_class(trial: TrialDocument) -> str:
    state = trial["steady_state"]
    cut = f", steady from {state['cut_s']} s after the warm-up on" if state["steady"] and state["cut_s"] else ""
    return f"{state['class']}{cut}"


def _steady_words(trial: TrialDocument, checkpoints: list[float] | None) -> str:
    count = None if checkpoints is None else len(checkpoints)
    seen = "checkpoints not observed" if count is None else "1 checkpoint" if count == 1 else f"{count} checkpoints"
    drifted = f"drift {change}" if (change := drift(trial)) else ""
    return "; ".join(filter(None, (f"steady state: {_steady_class(trial)}", drifted, seen if count != 0 else "")))


def _throughput(series: Series, trial: TrialDocument, stands: bool) -> list[Figure]:
    """Return throughput by second; a second without a completion but with errors is a gap, one without either is 0."""
    seconds = [second for second in trial["timeline"] if second["seconds"] > 0]
    rates = [
        None
        if second["transactions"] == 0 and second["errors"]
        else round(second["transactions"] / second["seconds"], 1)
        for second in seconds
    ]
    return [_line(series, trial, stands, rates, "/s"), *_error_marks(series, trial)] if rates else []


def _stalls(series: Series, trial: TrialDocument, stands: bool) -> list[Figure]:
    """Return the longest stall of each second; empty for a trial without stalls worth a mention."""
    stalls = trial["stability"]["stalls"]
    if not (stalls and stalls["notable"]):
        return []
    longest_ms = [second.get("longest_stall_ms") for second in trial["timeline"] if second["seconds"] > 0]
    return [_line(series, trial, stands, [scaled(stall_ms, 1.0) for stall_ms in longest_ms], "ms")]


def _latency(
    series: Series, trial: TrialDocument, stands: bool, percentile: str, unit: str, length_us: float
) -> list[Figure]:
    times_us = [second[_TIMES_US[percentile]] for second in trial["timeline"] if second["seconds"] > 0]
    times = [scaled(time_us, length_us) for time_us in times_us]
    known = any(time is not None for time in times)
    return [_line(series, trial, stands, times, unit)] if known else []


def _hits(series: Series, trial: TrialDocument, stands: bool) -> list[Figure]:
    """Return a cache's hit ratio in each second, in percent; empty for a system without a cache."""
    ratios = [second.get("hit_ratio") for second in trial["timeline"] if second["seconds"] > 0]
    if all(ratio is None for ratio in ratios):
        return []
    return [_line(series, trial, stands, [scaled(ratio, 0.01) for ratio in ratios], "%")]


def _line(series: Series, trial: TrialDocument, stands: bool, y: list[float | None], unit: str) -> Figure:
    usable = trial["state"] == "complete"
    x = [round(second["second"] + second["seconds"] / 2, 2) for second in trial["timeline"] if second["seconds"] > 0]
    x, y = thinned(x, y or [None] * len(x))
    again = "" if stands else f", repetition {trial['repeat']}"
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(x) <= MARKERS_UP_TO and stands else "lines",
        "x": x,
        "y": y,
        "connectgaps": False,
        "opacity": 1 if stands else 0.35,
        "line": {
            "color": series.colour if usable else UNUSABLE,
            "width": 1.5 if stands else 1,
            "dash": series.look.dash if usable else "dot",
        },
        "marker": {"size": 5, "symbol": series.look.symbol if usable else f"{series.look.symbol}-open"},
        "name": escape(series.short) + again + ("" if usable else f" ({escape(trial['state'])})"),
        "hovertemplate": "%{y:,.5g} " + unit,
        "showlegend": stands,
        **({} if stands else {"hoverinfo": "skip", "hovertemplate": None}),
        "meta": meta(series),
    }


def thinned(x: Sequence[float], y: Sequence[float | None]) -> tuple[list[float], list[float | None]]:
    """Return at most `MOST_POINTS` points of a line: the lowest and the highest of each stretch, in their order.

    A mean would hide a stalled second. A gap in a stretch counts as its lowest value.
    """
    if len(x) <= MOST_POINTS:
        return list(x), list(y)
    ends = np.linspace(0, len(x), MOST_POINTS // 2 + 1).astype(int)
    kept: list[int] = []
    for begin, end in pairwise(ends.tolist()):
        stretch = range(begin, end)
        low, high = (choose(stretch, key=lambda index: _height(y[index])) for choose in (min, max))
        kept += sorted({low, high})
    return [x[index] for index in kept], [y[index] for index in kept]


def _height(value: float | None) -> float:
    return -1.0 if value is None else value


def _error_marks(series: Series, trial: TrialDocument) -> list[Figure]:
    wrong = [second for second in trial["timeline"] if second["errors"]]
    if not wrong:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [second["second"] + second["seconds"] / 2 for second in wrong],
            "y": [0] * len(wrong),
            "cliponaxis": False,
            "marker": {"symbol": "x-thin", "size": 9, "color": ERRORS, "line": {"width": 2, "color": ERRORS}},
            "text": [f"{second['errors']:,} errors, {second['connected']} connected" for second in wrong],
            "name": escape(series.short),
            "hovertemplate": "%{text}",
            "showlegend": False,
            "meta": meta(series),
        }
    ]


def _axes(all_series: Sequence[Series], suffix: str) -> Figure:
    trials = [trial for trial in trials_of(all_series) if trial["timeline"]]
    warmup_s = max((trial["warmup_seconds"] for trial in trials), default=0)
    end_s = max((trial["warmup_seconds"] + trial["seconds"] + _profiled_s(trial) for trial in trials), default=0)
    return {
        "xaxis": {"range": [0, end_s], "title": {"text": "seconds since the trial began"}, "zeroline": False},
        "yaxis": {"rangemode": "tozero", "ticksuffix": suffix},
        "hovermode": hovermode(all_series),
        "shapes": [*warm_up_shade(warmup_s), *_event_lines(trials)],
    }


def warm_up_shade(warmup_s: float) -> list[Figure]:
    """Return the shapes that mark the seconds of the warm-up, which are in no figure."""
    note = {"text": "warm-up", "textposition": "top left", **_ABOVE}
    return [_left_out(0, warmup_s) | {"label": note}] if warmup_s else []


def _heat(all_series: Sequence[Series], latencies: np.ndarray) -> Figure:
    """Return the heat map of latencies over time; the page makes the colours logarithmic, so that tails are visible.

    Args:
        latencies: shape (3, n), as `Reader.latencies`.
    """
    second, bucket, count = latencies
    wide = -(-(int(second.max()) + 1) // MOST_COLUMNS)
    lowest, highest = int(bucket.min()), int(bucket.max())
    tall = -(-(highest - lowest + 1) // MOST_ROWS)
    rows, columns = (highest - lowest) // tall + 1, int(second.max()) // wide + 1
    counts = np.zeros((rows, columns), np.int64)
    np.add.at(counts, ((bucket - lowest) // tall, second // wide), count)
    edges_us = [_edge_us(lowest + row * tall) for row in range(rows + 1)]
    ticks = _ticks_us(edges_us[0], edges_us[-1])
    trace = {
        "type": "heatmap",
        "x": [column * wide for column in range(columns + 1)],
        "y": [round(float(np.log10(edge)), 4) for edge in edges_us],
        "counts": counts.tolist(),
        "labels": [_time_words(edge) for edge in edges_us],
    }
    axis = {"tickvals": np.log10(ticks).round(4).tolist(), "ticktext": [_time_words(tick) for tick in ticks]}
    layout = {"xaxis": {"title": {"text": "seconds since the trial began"}}, "yaxis": axis}
    return {"data": [trace], "layout": layout, "time": time_name(trials_of(all_series)).removesuffix("_us")}


def _ticks_us(low: float, high: float) -> list[float]:
    """Return every decade within a range; if these are few, also two and five times each."""
    steps = (1, 2, 5) if high < 1000 * low else (1,)
    ticks = [step * 10.0**power for power in range(-3, 10) for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def _edge_us(coarse: int) -> float:
    """Return the lowest latency of a coarse bucket; at least 1 ns, because the axis is logarithmic."""
    return max(1, bucket_bounds(coarse << COARSE_BITS)[0]) / 1000


def _time_words(time_us: float) -> str:
    for length_us, unit in ((1e6, "s"), (1e3, "ms"), (1.0, "µs")):
        if time_us >= length_us:
            return f"{time_us / length_us:.3g} {unit}"
    return f"{time_us * 1e3:.3g} ns"


def budget_figure(budget: Budget | None) -> Figure | None:
    """Return the operations in flight by band, second by second (docs/statistics.md, section 5)."""
    if not budget or not budget.per_second:
        return None
    data = []
    for name, values in budget.per_second.items():
        wide = -(-len(values) // MOST_POINTS)
        means = [_mean(values[second : second + wide]) for second in range(0, len(values), wide)]
        unseen = f" ({'partly' if any(means) else 'not'} observed)" if name in budget.not_seen else ""
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "stackgroup": "all",
                # Steps go to the end of the last second: a line of one second would show nothing.
                "x": [*range(0, len(values), wide), len(values)],
                "y": [*means, means[-1]],
                "line": {"width": 0.5, "color": COLOURS.get(name, UNUSABLE), "shape": "hv"},
                "name": escape(name.replace("_", " ").replace("cpu", "CPU")) + unseen,
                "hovertemplate": "%{y:.3g}",
            }
        )
    layout = {
        "xaxis": {"title": {"text": "seconds since the trial began"}, "rangemode": "tozero"},
        "yaxis": {"rangemode": "tozero", "title": {"text": "operations in flight"}},
        "hovermode": "x unified",
        "showlegend": True,
    }
    return {"data": data, "layout": layout}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 4) if known else None


def part(page: Page) -> Part | None:
    """Return the plots over time of every load, and those of each system alone."""
    loads = by_load(page.series, page.recordings) if page.clients_loaded else {}
    if not loads:
        return None
    later: dict[str, object] = {f"load-{load_index}": figures for load_index, figures in loads.items()}
    alone = by_trial(page.series, page.recordings)
    later |= {f"trial-{system}-{load}": figures for (system, load), figures in alone.items()}
    drawn = {name for figures in loads.values() for name in figures}
    content = {
        "old_rows": "timeline-old" in drawn,
        "stalls": "timeline-stalls" in drawn,
        "observed": any(plots["observed"] for plots in alone.values()),
    }
    return Part(content, later=later)


SECTION = Section(
    "over_time.html.j2",
    part,
    {
        "timeline": "Transactions in each second",
        "timeline-stalls": "Longest stall of each second, ms",
        **{f"timeline-{key}": f"{name} of each second, {{time}}" for key, name in PERCENTILES.items()},
        "timeline-hits": "Cache hits of all lookups",
        "timeline-old": "Old row versions yet to be removed",
    },
)
