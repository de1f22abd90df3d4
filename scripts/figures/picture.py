"""The picture of a documented run, as SVG: throughput by clients, versions against the first, queries, and others."""

import io
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter
from scripts.figures.declared import digest
from scripts.figures.relative import relative, systems_of

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#555555")
"""The palette of Okabe and Ito, which colour-blind readers can tell apart, and two more."""

MARKERS = "o^sDvPX*"


def draw(run: Mapping[str, Any], kept: Path, draws: str = "clients") -> str:
    """Return the plot of a run's summary, marked with the summary's sum."""
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "dbdyno", "font.family": "sans-serif"}):
        figure = Figure(figsize=(8, 4.2))
        axes = figure.subplots()
        _DRAWN[draws](axes, run)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x" if draws == "missing" else "y", alpha=0.3)
        # Minutes have a second axis to the right.
        beside = 1.2 if draws == "minutes" else 1
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(beside, 0.5))
        text = io.StringIO()
        figure.savefig(text, format="svg", bbox_inches="tight", facecolor="white", metadata={"Date": None})
    return text.getvalue().rstrip() + f"\n<!-- {kept.name} {digest(kept)} -->\n"


def _clients(axes: Any, run: Mapping[str, Any]) -> None:
    """Draw throughput against clients: the median of repetitions as a line, and their range as a band."""
    labels = dict.fromkeys(trial["label"] for trial in run["trials"])
    for number, label in enumerate(labels):
        # From the ninth on colours and markers return, on dashed lines.
        style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
        _line(axes, label, style | {"linestyle": "dashed" if number >= len(COLOURS) else "solid"}, run)
    clients = sorted({trial["clients"] for trial in run["trials"]})
    axes.set_xscale("log", base=2)
    axes.set_xticks(clients, [str(count) for count in clients])
    axes.minorticks_off()
    axes.set(xlabel="clients", ylabel="transactions per second", ylim=(0, None))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _versions(axes: Any, run: Mapping[str, Any]) -> None:
    """Draw the ratio of each system to the first with its 95 % interval, a line for each load."""
    systems = systems_of(run)
    rows = relative(run)
    for number, ((workload, clients), row) in enumerate(rows.items()):
        there = [name for name in systems[1:] if name in row]
        ratios = [row[name].ratio for name in there]
        below = [0.0, *(row[name].ratio - row[name].low for name in there)]
        above = [0.0, *(row[name].high - row[name].ratio for name in there)]
        # Beside each other, so that no interval hides another.
        places = [systems.index(name) + 0.06 * (number - (len(rows) - 1) / 2) for name in (systems[0], *there)]
        label = f"{workload}, {clients} client{'s' * (clients > 1)}"
        style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "capsize": 3}
        points = list(zip((systems[0], *there), places, (1.0, *ratios), below, above, strict=True))
        for product, versions in groupby(points, key=lambda point: point[0].partition("@")[0]):
            # No line leads from one product to another.
            _, at, values, down, up = zip(*versions, strict=True)
            legend = label if product == systems[0].partition("@")[0] else None
            axes.errorbar(at, values, yerr=[down, up], label=legend, **style)
    axes.set_xticks(range(len(systems)), systems)
    axes.set(ylabel=f"throughput relative to {systems[0]}", ylim=(0, None))


def _queries(axes: Any, run: Mapping[str, Any]) -> None:
    """Draw how long each query took on each store, hot: the median of three."""
    names = [query["name"] for query in run["trials"][0]["analysis"]["queries"]]
    for number, trial in enumerate(run["trials"]):
        hot_s = {query["name"]: median(query["hot_s"]) for query in trial["analysis"]["queries"] if query.get("hot_s")}
        style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "linewidth": 0.8}
        axes.plot([names.index(name) for name in hot_s], list(hot_s.values()), label=trial["label"], **style)
    axes.set_yscale("log")
    axes.set_xticks(range(len(names)), names, rotation=45)
    axes.set(ylabel="seconds, hot")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _minutes(axes: Any, run: Mapping[str, Any]) -> None:
    """Draw the transactions of each second, mean of a minute, and dashed the old row versions of the store."""
    beside = axes.twinx()
    for number, trial in enumerate(run["trials"]):
        colour = COLOURS[number % len(COLOURS)]
        at = [minute + 0.5 for minute in range(len(trial["minutes"]))]
        rates, old = ([minute[key] for minute in trial["minutes"]] for key in ("throughput_per_s", "old_rows"))
        axes.plot(at, rates, marker=MARKERS[number % len(MARKERS)], color=colour, label=trial["label"])
        beside.plot(at, old, linestyle="dashed", color=colour)
    axes.set(xlabel="minutes", ylabel="transactions per second", ylim=(0, None))
    beside.set(ylabel="old row versions (dashed)", ylim=(0, None))
    beside.spines["top"].set_visible(False)
    for each in (axes, beside):
        each.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _missing(axes: Any, run: Mapping[str, Any]) -> None:
    """Draw the share of the acknowledged writes that was missing after all crashes of a kind, by setting."""
    killed = [(trial["label"], trial["crash"]) for trial in run["trials"] if trial.get("crash")]
    labels = list(dict.fromkeys(label for label, _ in killed))
    kinds = sorted({crash["kind"] for _, crash in killed})
    axes.figure.set_size_inches(8, 1 + 0.3 * len(labels))
    thickness = 0.8 / len(kinds)
    for number, kind in enumerate(kinds):
        crashes = {label: [crash for of, crash in killed if (of, crash["kind"]) == (label, kind)] for label in labels}
        places = [at + thickness * (number - (len(kinds) - 1) / 2) for at in range(len(labels))]
        shares = [_share_missing(crashes[label]) for label in labels]
        axes.barh(places, shares, thickness, label=kind, color=COLOURS[number])
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set(xlabel="share of the acknowledged writes that was missing", xlim=(0, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(1))


def _share_missing(crashes: list[Mapping[str, Any]]) -> float:
    acknowledged, missing = (sum(crash[key] or 0 for crash in crashes) for key in ("acknowledged", "missing"))
    return missing / acknowledged if acknowledged else 0.0


def _line(axes: Any, label: str, style: Mapping[str, str], run: Mapping[str, Any]) -> None:
    rates: dict[int, list[float]] = {}
    for trial in run["trials"]:
        if trial["label"] == label and trial["state"] == "complete":
            rates.setdefault(trial["clients"], []).append(trial["throughput_per_s"])
    clients = sorted(rates)
    axes.plot(clients, [median(rates[count]) for count in clients], label=label, **style)
    low, high = ([best(rates[count]) for count in clients] for best in (min, max))
    axes.fill_between(clients, low, high, color=style["color"], alpha=0.15, linewidth=0)


_DRAWN = {"clients": _clients, "versions": _versions, "queries": _queries, "minutes": _minutes, "missing": _missing}
