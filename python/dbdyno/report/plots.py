"""The report's plots as plain Plotly figures; the page gives them their theme, so they hold no colour of text or grid.

A trace's `meta` says to which series (`s`) and client count (`c`) it belongs; the page hides those not chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import inf, log2
from statistics import median
from typing import Any

from dbdyno.report.words import Document, groups

Figure = dict[str, Any]

# Okabe and Ito's colours without black and yellow, which vanish on one of the two backgrounds, and two more alike.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7d6bc9", "#8a7a2a")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "pentagon", "triangle-down", "star", "hexagon")
DASHES = ("solid", "dash", "dot", "dashdot")
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

    def percentile(name: str) -> Callable[[Document], float | None]:
        return lambda trial: _scaled(trial["transaction"]["service_time_us"][name], length_us)

    found = {
        "throughput": _against_clients(all_series, lambda trial: trial["throughput_per_s"], "/s"),
        "latency-p50": _against_clients(all_series, percentile("p50"), unit),
        "latency-p99": _against_clients(all_series, percentile("p99"), unit),
        "timeline": _timeline(all_series),
        "timeline-p99": _timeline_p99(all_series, unit, length_us),
        "cost": _cost(all_series),
    }
    for place, name in enumerate(operations(all_series)):
        found[f"operation-{place}"] = _operation(all_series, name, unit, length_us)
    return {name: figure for name, figure in found.items() if figure["data"]}


def plot_unit(all_series: Sequence[Series]) -> tuple[str, float]:
    """The unit of all plotted latencies: axes begin at zero, so the longest decides. Returns name and length in µs."""
    p99_us = [trial["transaction"]["service_time_us"]["p99"] for series in all_series for trial in series.trials]
    return ("ms", 1000.0) if max((time for time in p99_us if time is not None), default=0) >= 10_000 else ("µs", 1.0)


def operations(all_series: Sequence[Series]) -> dict[str, str | None]:
    """The operations of the run's transactions, by name, with the logical operation each is; reads before writes."""
    told: dict[str, str | None] = {}
    for series in all_series:
        for trial in series.trials:
            for name, operation in trial["operations"].items():
                told.setdefault(name, operation["operation"])
    return dict(sorted(told.items(), key=lambda item: item[1] not in READS))


def client_counts(all_series: Sequence[Series]) -> list[int]:
    """The client counts of the sweep, rising."""
    return sorted({trial["clients"] for series in all_series for trial in series.trials})


def representatives(series: Series) -> dict[int, Document]:
    """By client count, its complete trial; of several repetitions the one of median throughput, as neither
    percentiles nor costs of several trials may be averaged."""
    by_clients: dict[int, list[Document]] = defaultdict(list)
    for trial in series.trials:
        if trial["state"] == "complete" and trial["throughput_per_s"] is not None:
            by_clients[trial["clients"]].append(trial)
    return {
        clients: sorted(trials, key=lambda trial: trial["throughput_per_s"])[(len(trials) - 1) // 2]
        for clients, trials in sorted(by_clients.items())
    }


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else round(value / unit, 4)


def _meta(series: Series, clients: int | None = None) -> dict[str, int | None]:
    return {"s": series.place, "c": clients}


def _axes(all_series: Iterable[Series], suffix: str) -> Figure:
    counts = client_counts(list(all_series))
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


def _against_clients(all_series: Sequence[Series], value: Callable[[Document], float | None], unit: str) -> Figure:
    """A line through the medians of complete trials, and every trial as a point."""
    data = []
    for series in all_series:
        known = [(trial, value(trial)) for trial in series.trials if value(trial) is not None]
        by_clients: dict[int, list[float]] = defaultdict(list)
        for trial, figure in known:
            if trial["state"] == "complete" and figure is not None:
                by_clients[trial["clients"]].append(figure)
        line = {clients: median(values) for clients, values in sorted(by_clients.items())}
        data += [
            _line(series, list(line), list(line.values())),
            *_points(series, [pair for pair in known if pair[0]["state"] == "complete"], unit, usable=True),
            *_points(series, [pair for pair in known if pair[0]["state"] != "complete"], unit, usable=False),
        ]
    return {"data": [trace for trace in data if trace["x"]], "layout": _axes(all_series, unit)}


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


def _points(series: Series, known: Sequence[tuple[Document, Any]], unit: str, usable: bool) -> list[Figure]:
    hover = [
        f"{escape(series.name)} [{escape(series.durability)}], {trial['clients']} clients"
        + (f", repetition {trial['repeat']}" if (trial["repeat"] or 1) > 1 else "")
        + f"<br><b>{figure:,.5g} {unit}</b>"
        + ("" if usable else f"<br>{escape(trial['state'])}: not to be used")
        for trial, figure in known
    ]
    marker = {"size": 8, "color": series.colour, "symbol": series.symbol}
    if not usable:
        marker |= {"color": UNUSABLE, "symbol": f"{series.symbol}-open", "size": 11, "line": {"width": 2}}
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [trial["clients"] for trial, _ in known],
            "y": [round(figure, 4) for _, figure in known],
            "marker": marker,
            "text": hover,
            "hoverinfo": "text",
            "meta": _meta(series),
        }
    ]


def _over_time(series: Series, trial: Document, y: list[float | None], unit: str) -> Figure:
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
        "meta": _meta(series, trial["clients"]),
    }


def _timeline(all_series: Sequence[Series]) -> Figure:
    """Throughput second by second; a second without a completion but with errors is a gap, one without either is 0."""
    data = []
    for series in all_series:
        for trial in series.trials:
            seconds = trial["timeline"]
            rates = [
                None if one["transactions"] == 0 and one["errors"] else round(one["transactions"] / one["seconds"], 1)
                for one in seconds
                if one["seconds"] > 0
            ]
            if not rates:
                continue
            data.append(_over_time(series, trial, rates, "/s"))
            data += _error_marks(series, trial)
    return {"data": data, "layout": _time_axes(all_series, "")}


def _error_marks(series: Series, trial: Document) -> list[Figure]:
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
            "meta": _meta(series, trial["clients"]),
        }
    ]


def _timeline_p99(all_series: Sequence[Series], unit: str, length_us: float) -> Figure:
    data = []
    for series in all_series:
        for trial in series.trials:
            times = [_scaled(one["p99_us"], length_us) for one in trial["timeline"]]
            if any(time is not None for time in times):
                data.append(_over_time(series, trial, times, unit))
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
    for series in all_series:
        for clients, trial in representatives(series).items():
            operation: Mapping[str, Any] = trial["operations"].get(name, {})
            times = operation.get("service_time_us", {})
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
                        "meta": _meta(series, clients),
                    }
                )
    axes = {"xaxis": {"type": "category", "categoryarray": ["p50", "p95", "p99", "p99.9"], "categoryorder": "array"}}
    layout = axes | {"yaxis": {"rangemode": "tozero", "ticksuffix": f" {unit}"}, "hovermode": "x unified"}
    return {"data": data, "layout": layout | {"barmode": "group"}}


def _cost(all_series: Sequence[Series]) -> Figure:
    """Bars side by side by system, the server's CPU stacked on the client's."""
    data = []
    for series in all_series:
        trials = representatives(series).values()
        client = [trial["client_cpu_us_per_transaction"] or 0 for trial in trials]
        server = [trial["server_cpu_us_per_transaction"] for trial in trials]
        common = {
            "type": "bar",
            "x": [str(trial["clients"]) for trial in trials],
            "offsetgroup": str(series.place),
            "meta": _meta(series),
        }
        data.append(_cost_bars(series, common, client, None, "client"))
        if any(server):
            data.append(_cost_bars(series, common, [used or 0 for used in server], client, "server"))
    order = {"type": "category", "categoryorder": "array", "categoryarray": [str(c) for c in client_counts(all_series)]}
    layout: Figure = {"xaxis": order | {"title": {"text": "clients"}}, "barmode": "group", "hovermode": "x unified"}
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
