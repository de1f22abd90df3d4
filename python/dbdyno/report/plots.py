"""The report's plots as plain Plotly figures; the page gives them their theme, so they hold no colour of text or grid.

A trace's `meta` says to which series (`s`) and load (`c`, its place among them) it belongs; the page hides those not
chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import inf, log2
from statistics import median
from typing import Any

from dbdyno.report.loads import Document, Load, is_open, load_of, loads, time_name, times_us
from dbdyno.report.words import groups

Figure = dict[str, Any]
Point = tuple[Document, float, float]
"""A trial with its place on the x axis and on the y axis."""

# Okabe and Ito's colours without black and yellow, which vanish on one of the two backgrounds, and two more alike.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7d6bc9", "#8a7a2a")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "pentagon", "triangle-down", "star", "hexagon")
DASHES = ("solid", "dash", "dot", "dashdot")
LOWER_BOUND = "arrow-up"
"""The marker of a figure that its client limited: the store's lies somewhere above."""
UNUSABLE = "#8a8f98"
"""What is drawn of a trial that is not complete."""
ERRORS = "#d62839"
READS = frozenset({"get", "find", "multi_get", "scan"})
LABELS_ON_A_PHONE = 13
MARKERS_UP_TO = 90
"""Points of a series over time; more than this and markers hide the line."""


@dataclass(frozen=True, slots=True)
class Series:
    """One system (and workload): its trials, and how it looks in every plot."""

    place: int
    name: str
    durability: str
    durability_reason: str
    trials: Sequence[Document]

    @property
    def colour(self) -> str:
        """Its colour; the palette begins anew after its end, with another symbol and dash."""
        return COLOURS[self.place % len(COLOURS)]

    @property
    def symbol(self) -> str:
        """Its marker, so that colour is not the only thing that tells systems apart."""
        return SYMBOLS[(self.place + self.place // len(COLOURS)) % len(SYMBOLS)]

    @property
    def dash(self) -> str:
        """Its line."""
        return DASHES[self.place // len(COLOURS) % len(DASHES)]


def series_of(document: Document) -> list[Series]:
    """The series of a run, in its order; the workload is named where there are several."""
    grouped = groups(document)
    several = len({workload for _, workload in grouped}) > 1
    return [
        Series(
            place,
            f"{label} · {workload}" if several else label,
            " / ".join(sorted({str(trial["durability"] or "unknown") for trial in trials})),
            "; ".join(dict.fromkeys(str(trial["durability_reason"] or "") for trial in trials)),
            trials,
        )
        for place, ((label, workload), trials) in enumerate(grouped.items())
    ]


def figures(all_series: Sequence[Series]) -> dict[str, Figure]:
    """Every plot of the report by the id of its place in the page; one without data is left out."""
    unit, length_us = plot_unit(all_series)
    name = time_name(_trials(all_series))

    def percentile(key: str) -> Callable[[Document], float | None]:
        return lambda trial: _scaled(times_us(trial["transaction"], name)[key], length_us)

    found = {
        "throughput": _against_load(all_series, lambda trial: trial["throughput_per_s"], "/s"),
        "latency-p50": _against_load(all_series, percentile("p50"), unit),
        "latency-p99": _against_load(all_series, percentile("p99"), unit),
        "timeline": _timeline(all_series),
        "timeline-p99": _timeline_p99(all_series, unit, length_us),
        "cost": _cost(all_series),
    }
    for place, operation in enumerate(operations(all_series)):
        found[f"operation-{place}"] = _operation(all_series, operation, unit, length_us)
    return {name: figure for name, figure in found.items() if figure["data"]}


def plot_unit(all_series: Sequence[Series]) -> tuple[str, float]:
    """The unit of all plotted latencies: axes begin at zero, so the longest decides. Returns name and length in µs."""
    name = time_name(_trials(all_series))
    p99_us = [times_us(trial["transaction"], name)["p99"] for trial in _trials(all_series)]
    longest_us = max((time for time in p99_us if time is not None), default=0)
    return ("s", 1e6) if longest_us >= 1e7 else ("ms", 1e3) if longest_us >= 1e4 else ("µs", 1.0)


def operations(all_series: Sequence[Series]) -> dict[str, str | None]:
    """The operations of the run's transactions, by name, with the logical operation each is; reads before writes."""
    told: dict[str, str | None] = {}
    for series in all_series:
        for trial in series.trials:
            for name, operation in trial["operations"].items():
                told.setdefault(name, operation["operation"])
    return dict(sorted(told.items(), key=lambda item: item[1] not in READS))


def _trials(all_series: Iterable[Series]) -> list[Document]:
    return [trial for series in all_series for trial in series.trials]


def load_labels(all_series: Sequence[Series]) -> dict[Load, str]:
    """The loads of the sweep, rising, each with its name."""
    found = loads(_trials(all_series))
    several = len({load.clients for load in found}) > 1
    return {load: load.label(several) for load in found}


def representatives(series: Series) -> dict[Load, Document]:
    """By load, its complete trial; of several repetitions the one of median throughput, as neither percentiles nor
    costs of several trials may be averaged."""
    by_load: dict[Load, list[Document]] = defaultdict(list)
    for trial in series.trials:
        if trial["state"] == "complete" and trial["throughput_per_s"] is not None:
            by_load[load_of(trial)].append(trial)
    return {
        load: sorted(trials, key=lambda trial: trial["throughput_per_s"])[(len(trials) - 1) // 2]
        for load, trials in sorted(by_load.items())
    }


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else round(value / unit, 4)


def _meta(series: Series, place: int | None = None) -> dict[str, int | None]:
    return {"s": series.place, "c": place}


def _places(all_series: Iterable[Series]) -> dict[Load, int]:
    return {load: place for place, load in enumerate(loads(_trials(all_series)))}


def _axes(all_series: Sequence[Series], suffix: str) -> Figure:
    counts = sorted({trial["clients"] for trial in _trials(all_series)})
    if is_open(_trials(all_series)):
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
    """A line through the medians of complete trials, and every trial as a point, by clients or by what was offered."""
    x_name = "offered_per_s" if is_open(_trials(all_series)) else "clients"
    data = [_all_of_it(all_series)] if unit == "/s" and x_name == "offered_per_s" else []
    for series in all_series:
        known = [
            (trial, trial[x_name], figure)
            for trial in series.trials
            if (figure := value(trial)) is not None and trial.get(x_name) is not None
        ]
        usable = [point for point in known if point[0]["state"] == "complete"]
        # Of throughput the store's lies above; of its latencies a slow client says nothing so simple.
        bounds = [point for point in usable if point[0]["client_limited"] and unit == "/s"]
        data += [
            *_medians(series, usable),
            *_points(series, [point for point in usable if point not in bounds], unit),
            *_points(series, bounds, unit, LOWER_BOUND),
            *_points(series, [point for point in known if point[0]["state"] != "complete"], unit, "-open"),
        ]
    return {"data": [trace for trace in data if trace["x"]], "layout": _axes(all_series, unit)}


def _medians(series: Series, usable: Sequence[Point]) -> list[Figure]:
    """A line for each number of clients over the rates; over clients, one. Repetitions are one point of it."""
    lines: dict[int, dict[Load, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for point in usable:
        lines[point[0]["clients"] if point[0].get("rate") else 0][load_of(point[0])].append(point)
    return [
        _line(
            series,
            [median(x for _, x, _ in points) for _, points in sorted(by_load.items())],
            [median(y for _, _, y in points) for _, points in sorted(by_load.items())],
        )
        for by_load in lines.values()
    ]


def _all_of_it(all_series: Sequence[Series]) -> Figure:
    """The line on which all that is offered is achieved."""
    most = max((trial.get("offered_per_s") or 0 for trial in _trials(all_series)), default=0)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [0, most],
        "y": [0, most],
        "line": {"color": UNUSABLE, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
        "meta": {"s": None, "c": None},
    }


def _line(series: Series, x: list[Any], y: list[Any]) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"color": series.colour, "width": 2, "dash": series.dash},
        "hoverinfo": "skip",
        "meta": _meta(series),
    }


def _points(series: Series, known: Sequence[Point], unit: str, mark: str = "") -> list[Figure]:
    """The trials as points; mark: `LOWER_BOUND`, or `-open` of those that are not to be used."""
    marker = {"size": 8, "color": series.colour, "symbol": series.symbol}
    if mark == LOWER_BOUND:
        marker |= {"symbol": LOWER_BOUND, "size": 13}
    elif mark:
        marker |= {"color": UNUSABLE, "symbol": series.symbol + mark, "size": 11, "line": {"width": 2}}
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [x for _, x, _ in known],
            "y": [round(figure, 4) for _, _, figure in known],
            "marker": marker,
            "text": [_hover(series, trial, figure, unit) for trial, _, figure in known],
            "hoverinfo": "text",
            "meta": _meta(series),
        }
    ]


def _hover(series: Series, trial: Document, figure: float, unit: str) -> str:
    repetition = f", repetition {trial['repeat']}" if (trial["repeat"] or 1) > 1 else ""
    rate = f", offered {escape(load.words)}" if (load := load_of(trial)).words else ""
    remark = "" if trial["state"] == "complete" else f"<br>{escape(trial['state'])}: not to be used"
    if trial["client_limited"]:
        remark += "<br>limited by the client: the store may do more"
    where = f"{escape(series.name)} [{escape(series.durability)}], {trial['clients']} clients{rate}{repetition}"
    return f"{where}<br><b>{figure:,.5g} {unit}</b>{remark}"


def _over_time(series: Series, trial: Document, place: int, y: list[float | None], unit: str) -> Figure:
    seconds = trial["timeline"]
    usable = trial["state"] == "complete"
    dash = series.dash if usable else "dot"
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(seconds) <= MARKERS_UP_TO else "lines",
        "x": [one["second"] + one["seconds"] / 2 for one in seconds],
        "y": y,
        "connectgaps": False,
        "line": {"color": series.colour if usable else UNUSABLE, "width": 1.5, "dash": dash},
        "marker": {"size": 5, "symbol": series.symbol if usable else f"{series.symbol}-open"},
        "name": escape(series.name) + ("" if usable else f" ({escape(trial['state'])})"),
        "hovertemplate": "%{y:,.5g} " + unit,
        "meta": _meta(series, place),
    }


def _timeline(all_series: Sequence[Series]) -> Figure:
    """Throughput second by second; a second without a completion but with errors is a gap, one without either is 0."""
    data = []
    places = _places(all_series)
    for series in all_series:
        for trial in series.trials:
            place, seconds = places[load_of(trial)], trial["timeline"]
            rates = [
                None if one["transactions"] == 0 and one["errors"] else round(one["transactions"] / one["seconds"], 1)
                for one in seconds
                if one["seconds"] > 0
            ]
            if not rates:
                continue
            data.append(_over_time(series, trial, place, rates, "/s"))
            data += _error_marks(series, trial, place)
    return {"data": data, "layout": _time_axes(all_series, "")}


def _error_marks(series: Series, trial: Document, place: int) -> list[Figure]:
    wrong = [one for one in trial["timeline"] if one["errors"]]
    if not wrong:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [one["second"] + one["seconds"] / 2 for one in wrong],
            "y": [0] * len(wrong),
            "cliponaxis": False,
            "marker": {"symbol": "x-thin", "size": 9, "color": ERRORS, "line": {"width": 2, "color": ERRORS}},
            "text": [f"{one['errors']:,} errors, {one['connected']} connected" for one in wrong],
            "name": escape(series.name),
            "hovertemplate": "%{text}",
            "meta": _meta(series, place),
        }
    ]


def _timeline_p99(all_series: Sequence[Series], unit: str, length_us: float) -> Figure:
    """Of the time that is shown of the run; a closed loop beside an open one has another."""
    data = []
    places, beside_open = _places(all_series), is_open(_trials(all_series))
    for series in all_series:
        for trial in series.trials:
            if beside_open and not trial.get("rate"):
                continue
            times = [_scaled(one["p99_us"], length_us) for one in trial["timeline"]]
            if any(time is not None for time in times):
                data.append(_over_time(series, trial, places[load_of(trial)], times, unit))
    return {"data": data, "layout": _time_axes(all_series, f" {unit}")}


def _time_axes(all_series: Sequence[Series], suffix: str) -> Figure:
    trials = [trial for series in all_series for trial in series.trials if trial["timeline"]]
    warmup_s = max((trial["warmup_seconds"] for trial in trials), default=0)
    shade = {"type": "rect", "xref": "x", "yref": "paper", "x0": 0, "x1": warmup_s, "y0": 0, "y1": 1, "layer": "below"}
    note = {"text": "warm-up", "textposition": "top left", "font": {"size": 11}}
    return {
        "xaxis": {"rangemode": "tozero", "title": {"text": "seconds since the trial began"}, "zeroline": False},
        "yaxis": {"rangemode": "tozero", "ticksuffix": suffix},
        "hovermode": "x unified",
        "shapes": [shade | {"fillcolor": UNUSABLE, "opacity": 0.18, "line": {"width": 0}, "label": note}]
        if warmup_s
        else [],
    }


def _operation(all_series: Sequence[Series], name: str, unit: str, length_us: float) -> Figure:
    data = []
    places, shown_time = _places(all_series), time_name(_trials(all_series))
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
                        "y": [_scaled(time, length_us) for time in known.values()],
                        "marker": {"color": series.colour},
                        "name": escape(series.name),
                        "hovertemplate": f"%{{y:,.4g}} {unit}, of {operation['count']:,}",
                        "meta": _meta(series, places[load]),
                    }
                )
    axes = {"xaxis": {"type": "category", "categoryarray": ["p50", "p95", "p99", "p99.9"], "categoryorder": "array"}}
    layout = axes | {"yaxis": {"rangemode": "tozero", "ticksuffix": f" {unit}"}, "hovermode": "x unified"}
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
            "meta": _meta(series),
        }
        data.append(_cost_bars(series, common, client, None, "client"))
        if any(server):
            data.append(_cost_bars(series, common, [used or 0 for used in server], client, "server"))
    order = {"type": "category", "categoryorder": "array", "categoryarray": list(labels.values())}
    title = "offered" if is_open(_trials(all_series)) else "clients"
    layout: Figure = {"xaxis": order | {"title": {"text": title}}, "barmode": "group", "hovermode": "x unified"}
    return {
        "data": [trace for trace in data if trace["x"]],
        "layout": layout | {"yaxis": {"rangemode": "tozero", "ticksuffix": " µs"}},
    }


def _cost_bars(series: Series, common: Figure, used_us: list[float], base: list[float] | None, who: str) -> Figure:
    bars = common | {
        "y": [round(used, 3) for used in used_us],
        "customdata": [round(used, 3) for used in used_us],
        "name": f"{escape(series.name)}: {who}",
        "hovertemplate": "%{customdata:,.4g} µs",
        "marker": {"color": series.colour},
    }
    if base is not None:
        bars["base"] = base
        pale = f"{series.colour}55"
        bars["marker"] = {
            "pattern": {"shape": "/", "size": 6, "solidity": 0.35, "fgcolor": series.colour, "bgcolor": pale}
        }
    return bars
