"""Plots of a figure against a factor of the experiment: workers, keys a request. Lines go through several series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule

if TYPE_CHECKING:
    import html

    from dbdyno.report.core.looks import Look
    from dbdyno.report.core.plots import Figure
else:
    html = LaterModule("html")


def factor_axis(values: Sequence[int], title: str) -> Figure:
    """Return a logarithmic axis with a tick at each value that the factor had."""
    return {"type": "log", "tickvals": list(values), "ticktext": list(map(str, values)), "title": {"text": title}}


def factor_line(look: Look, name: str, points: Sequence[tuple[int, float]]) -> Figure:
    """Return a line of rows a second.

    points: the factor's value and the figure, rising.
    """
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [value for value, _ in points],
        "y": [round(per_s) for _, per_s in points],
        "name": html.escape(name),
        "line": {"color": look.colour, "dash": look.dash},
        "marker": {"color": look.colour, "symbol": look.symbol, "size": 9},
        # The line belongs to several series, so no series' button hides it.
        "meta": {},
        "hovertemplate": f"{html.escape(name)}: %{{y:,}} rows/s",
    }
