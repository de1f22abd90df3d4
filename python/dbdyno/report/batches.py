"""Rows a second against the keys of a request, of runs of `batch-get`."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from statistics import median
from typing import Any
from urllib.parse import parse_qs

from dbdyno.report.loads import Document
from dbdyno.report.series import COLOURS, SYMBOLS, Series

WORKLOAD = "batch-get"


def figures(all_series: Sequence[Series]) -> dict[str, dict[str, Any]]:
    """Return the plot of a run with requests of several sizes; none of another run."""
    lines: dict[str, dict[int, list[float]]] = {}
    for series in all_series:
        for trial in series.trials:
            if (keys := _keys_a_request(trial)) and trial["state"] == "complete":
                name = f"{trial['label']}, {trial['clients']} client{'' if trial['clients'] == 1 else 's'}"
                rates = lines.setdefault(name, {}).setdefault(keys, [])
                rates.append(keys * (trial["throughput_per_s"] or 0.0))
    sizes = sorted({keys for line in lines.values() for keys in line})
    if len(sizes) < 2:
        return {}
    axes = {
        "xaxis": {
            "type": "log",
            "tickvals": sizes,
            "ticktext": list(map(str, sizes)),
            "title": {"text": "keys a request (logarithmic)"},
        },
        "yaxis": {"type": "log", "title": {"text": "rows/s (logarithmic)"}},
    }
    return {"batch": {"data": [_line(place, *one) for place, one in enumerate(lines.items())], "layout": axes}}


def _keys_a_request(trial: Document) -> int | None:
    name, _, options = str(trial["workload"]).partition("?")
    given = parse_qs(options).get("batch")
    return int(given[0]) if name == WORKLOAD and given else None


def _line(place: int, name: str, rates: dict[int, list[float]]) -> dict[str, Any]:
    colour, points = COLOURS[place % len(COLOURS)], sorted(rates.items())
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [keys for keys, _ in points],
        "y": [round(median(per_s)) for _, per_s in points],
        "name": escape(name),
        "line": {"color": colour},
        "marker": {"color": colour, "symbol": SYMBOLS[place % len(SYMBOLS)], "size": 9},
        # A line goes through several series, so none of them hides it.
        "meta": {},
        "hovertemplate": f"{escape(name)}: %{{y:,}} rows/s",
    }
