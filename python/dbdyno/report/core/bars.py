"""Bars with names: a few stand side by side; many bars or long names become horizontal, so every name is readable."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

from dbdyno.report.core.plots import Figure

STANDING, LETTERS = 13, 60
"""Bars, and letters of their names, that fit side by side on a phone. Every bar has the room of the longest name."""
LINE_LETTERS = 28
"""Letters in a line of a name left of its bar: on a phone half of the width is left for the bar."""
_AROUND_PX, _BAR_PX, _LINE_PX = 70, 8, 15


def laid_out(figure: Figure) -> Figure:
    """Return a figure of bars (and points) over names as it is, or with horizontal bars and as high as its names need.

    Args:
        figure: names are on its x axis, figures on its y axis.
    """
    names = list(dict.fromkeys(name for trace in figure["data"] for name in trace["x"]))
    if len(names) <= STANDING and len(names) * max(map(len, names), default=0) <= LETTERS:
        return dict(figure)
    layout = figure["layout"]
    wrapped = {name: wrap(name, LINE_LETTERS, break_long_words=False) or [""] for name in names}
    order = {"categoryorder": "array", "categoryarray": ["<br>".join(lines) for lines in wrapped.values()]}
    upright = {"type": "category", "autorange": "reversed", "tickmode": "linear", "dtick": 1} | order
    lying = {
        "xaxis": {"separatethousands": True, "nticks": 6, **layout["yaxis"], "automargin": True},
        "yaxis": upright | {"ticklabelstandoff": 4},
        # All bars get the same room.
        "height": _AROUND_PX + len(names) * (_BAR_PX + _LINE_PX * max(map(len, wrapped.values()))),
    }
    hover = {"hovermode": layout["hovermode"].replace("x", "y", 1)} if layout.get("hovermode") == "x unified" else {}
    return {"data": [_turned(trace, wrapped) for trace in figure["data"]], "layout": {**layout, **lying, **hover}}


def _turned(trace: Figure, wrapped: Mapping[str, list[str]]) -> Figure:
    axes = {"x": trace["y"], "y": ["<br>".join(wrapped[name]) for name in trace["x"]]}
    if trace["type"] == "bar":
        axes["orientation"] = "h"
    template = {"hovertemplate": trace["hovertemplate"].replace("%{y", "%{x")} if trace.get("hovertemplate") else {}
    return {**trace, **axes, **template}
