"""The picture of a documented run: throughput against clients, as SVG."""

import io
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from scripts.figures.declared import digest

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#555555")
"""The palette of Okabe and Ito, which colour-blind readers can tell apart, and two more."""


def draw(run: Mapping[str, Any], kept: Path) -> str:
    """Return the plot of a run's summary, the median of repetitions as a line and their range as a band."""
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "dbdyno", "font.family": "sans-serif"}):
        figure = Figure(figsize=(8, 4.2))
        axes = figure.subplots()
        labels = dict.fromkeys(trial["label"] for trial in run["trials"])
        for number, label in enumerate(labels):
            _line(axes, label, COLOURS[number % len(COLOURS)], "o^sDvPX*"[number % 8], run)
        clients = sorted({trial["clients"] for trial in run["trials"]})
        axes.set_xscale("log", base=2)
        axes.set_xticks(clients, [str(count) for count in clients])
        axes.minorticks_off()
        axes.set(xlabel="clients", ylabel="transactions per second", ylim=(0, None))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.3)
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        text = io.StringIO()
        figure.savefig(text, format="svg", bbox_inches="tight", facecolor="white", metadata={"Date": None})
    return text.getvalue().rstrip() + f"\n<!-- {kept.name} {digest(kept)} -->\n"


def _line(axes: Any, label: str, colour: str, marker: str, run: Mapping[str, Any]) -> None:
    rates: dict[int, list[float]] = {}
    for trial in run["trials"]:
        if trial["label"] == label and trial["state"] == "complete":
            rates.setdefault(trial["clients"], []).append(trial["throughput_per_s"])
    clients = sorted(rates)
    axes.plot(clients, [median(rates[count]) for count in clients], marker=marker, color=colour, label=label)
    low, high = ([best(rates[count]) for count in clients] for best in (min, max))
    axes.fill_between(clients, low, high, color=colour, alpha=0.15, linewidth=0)
