"""Rows a second against the keys of a request, for runs of `batch-get`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from dbdyno.report.core.factors import factor_axis, factor_line
from dbdyno.report.core.looks import looks
from dbdyno.report.core.named_workload import named_workload
from dbdyno.report.core.page import Page
from dbdyno.report.core.plots import Figure
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.report.core.words import repeated

WORKLOAD = "batch-get"


def figures(all_series: Sequence[Series]) -> dict[str, Figure]:
    """Return the plot of a run with requests of several sizes; empty for another run."""
    lines: dict[str, dict[int, list[float]]] = {}
    hue_of: dict[str, int] = {}
    for series in all_series:
        for trial in series.trials:
            if (keys := _keys_a_request(trial)) and trial["state"] == "complete":
                name = f"{trial['label']}, {trial['clients']} client{'' if trial['clients'] == 1 else 's'}"
                hue_of.setdefault(name, series.look.hue)
                rates = lines.setdefault(name, {}).setdefault(keys, [])
                rates.append(keys * (trial["throughput_per_s"] or 0.0))
    sizes = sorted({keys for line in lines.values() for keys in line})
    if len(sizes) < 2:
        return {}
    axes = {
        "xaxis": factor_axis(sizes, "keys a request (logarithmic)"),
        "yaxis": {"type": "log", "title": {"text": "rows/s (logarithmic)"}},
        "showlegend": True,
    }
    data = [
        factor_line(look, name, [(keys, median(per_s)) for keys, per_s in sorted(line.items())])
        for (name, line), look in zip(lines.items(), looks([hue_of[name] for name in lines]), strict=True)
    ]
    return {"batch": {"data": data, "layout": axes}}


def _keys_a_request(trial: TrialDocument) -> int | None:
    workload = named_workload(trial["workload"])
    given = workload.options.get("batch")
    return int(given) if workload.name == WORKLOAD and given else None


def part(page: Page) -> Part | None:
    """Return the plot of rows by keys a request."""
    plots = figures(page.series) if page.clients_loaded else {}
    median_of = ", the median of repetitions" if repeated(page.document) else ""
    note = (
        f"Rows a second against the keys of a request, both logarithmic; complete trials only{median_of}. A flat "
        "line means that the cost of the request no longer matters: it is spread over many rows."
    )
    content = {"heading": "Rows by keys a request", "note": note, "id": "batch", "height": 360}
    return Part(content, plots) if plots else None


SECTION = Section("plot.html.j2", part, {"batch": "Rows/s by keys a request"})
