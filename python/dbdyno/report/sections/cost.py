"""The cost of a transaction: CPU time, context switches, bytes through the disk (docs/statistics.md, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule
from dbdyno.report.core.loads import is_open
from dbdyno.report.core.looks import bar_marker
from dbdyno.report.core.plots import Figure, meta
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, hovermode, load_labels, representatives, trials_of
from dbdyno.results.read import processes_of_store, usage_of_servers

if TYPE_CHECKING:
    import html

    from dbdyno.report.core.page import Page
    from dbdyno.report.core.trial_documents import CostDocument
    from dbdyno.results.model import Trial
else:
    html = LaterModule("html")

_PER_TRANSACTION = {
    "context_switches": ("voluntary_switches_total", "involuntary_switches_total"),
    "bytes_read": ("read_bytes_total",),
    "bytes_written": ("written_bytes_total",),
}


def cost(trial: Trial) -> CostDocument:
    """Return a transaction's cost, in the measured time; `None` if it was not observed.

    `client_cpu_us`: of the load threads. `server_cpu_us`: of the store's processes; `None` for an embedded store, whose
    work is the client's, and for an attached one. `context_switches`, `bytes_read` and `bytes_written`: of the store's
    processes, or of the client for an embedded store; `None` if one of its servers was not observed. `bytes_on_disk`:
    of all of its data, when the trial ended.
    """
    recorded = trial.recorded
    rate = recorded.throughput_per_s
    names = processes_of_store(trial)
    cores = [used.cores for used in usage_of_servers(trial) if used.process in names]
    server_cores = sum(used for used in cores if used is not None) if cores and None not in cores else None
    client_cpu_s = sum(interval.client_cpu_s for interval in recorded.measured)
    each = {
        name: summed / rate if rate and (summed := _summed(trial.observed, names, parts)) is not None else None
        for name, parts in _PER_TRANSACTION.items()
    }
    return {
        "client_cpu_us": client_cpu_s * 1e6 / recorded.completed if recorded.completed else None,
        "server_cpu_us": server_cores * 1e6 / rate if server_cores is not None and rate else None,
        "context_switches": each["context_switches"],
        "bytes_read": each["bytes_read"],
        "bytes_written": each["bytes_written"],
        "bytes_on_disk": trial.facts.data_bytes,
    }


def _summed(observed: Mapping[str, float], names: Sequence[str], parts: tuple[str, ...]) -> float | None:
    known = [observed.get(f"process.{name}.{part}") for name in names for part in parts]
    return None if not known or None in known else sum(value for value in known if value is not None)


def part(page: Page) -> Part | None:
    """Return the plot of processor time, and what the table needs."""
    if not (page.clients_loaded and page.series):
        return None
    plot = figure(page.series)
    drawn = {"cost": plot} if plot["data"] else {}
    return Part({"drawn": bool(drawn), "representatives": representatives}, drawn)


SECTION = Section("cost.html.j2", part, {"cost": "CPU time of a transaction: solid client, hatched server"})


def figure(all_series: Sequence[Series]) -> Figure:
    """Return bars side by side by system, the server's CPU stacked on the client's."""
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
            "offsetgroup": str(series.index),
            "meta": meta(series),
        }
        data.append(_cost_bars(series, common, client, None, "client"))
        if any(server):
            data.append(_cost_bars(series, common, [used or 0 for used in server], client, "server"))
    order = {"type": "category", "categoryorder": "array", "categoryarray": list(labels.values())}
    title = "offered" if is_open(trials_of(all_series)) else "clients"
    layout: Figure = {
        "xaxis": order | {"title": {"text": title}},
        "barmode": "group",
        "hovermode": hovermode(all_series),
    }
    return {
        "data": [trace for trace in data if trace["x"]],
        "layout": layout | {"yaxis": {"rangemode": "tozero", "ticksuffix": " µs"}},
    }


def _cost_bars(series: Series, common: Figure, used_us: list[float], base: list[float] | None, who: str) -> Figure:
    bars = common | {
        "y": [round(used, 3) for used in used_us],
        "customdata": [round(used, 3) for used in used_us],
        "name": f"{html.escape(series.short)}: {who}",
        "hovertemplate": "%{customdata:,.4g} µs",
        "marker": bar_marker(series.look),
    }
    if base is not None:
        bars["base"] = base
        pale = f"{series.colour}55"
        bars["marker"] = {
            "pattern": {"shape": "/", "size": 6, "solidity": 0.35, "fgcolor": series.colour, "bgcolor": pale}
        }
    return bars
