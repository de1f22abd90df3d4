"""Throughput against load: every trial, the median of repetitions, and the law that fits best."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from dbdyno.report.core.against_load import against_load, load_line
from dbdyno.report.core.documents import SweepDocument
from dbdyno.report.core.loads import is_open, load_of
from dbdyno.report.core.page import Page
from dbdyno.report.core.plots import Figure
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, trials_of
from dbdyno.report.core.words import label_of
from dbdyno.stats.scalability import Law

FIT_POINTS = 40


def part(page: Page) -> Part | None:
    """Return the plot, and how each system scales."""
    plot = figure(page.series, page.document["scalability"]) if page.clients_loaded else None
    if not plot:
        return None
    return Part({"fits": [sweep for sweep in page.document["scalability"] if sweep["law"]]}, {"throughput": plot})


SECTION = Section("throughput.html.j2", part, {"throughput": "Throughput, transactions/s"})


def figure(all_series: Sequence[Series], sweeps: Sequence[SweepDocument] = ()) -> Figure | None:
    """Return the plot, or `None` if there is nothing to draw.

    Args:
        sweeps: the laws fitted to each system's throughput, from `dbdyno.report.sections.sweeps.sweeps`.
    """
    plot = against_load(all_series, lambda trial: trial["throughput_per_s"], "/s")
    if not is_open(trials_of(all_series)):
        plot["data"] += _fits(all_series, sweeps)
    return plot if plot["data"] else None


def _fits(all_series: Sequence[Series], sweeps: Sequence[SweepDocument]) -> list[Figure]:
    """Return the law fitted to each sweep, thin and dotted, within the measured range."""
    fits = []
    for series in all_series:
        counts = [load_of(trial).clients for trial in series.trials]
        for sweep in sweeps:
            if sweep["law"] and (label_of(sweep), sweep["workload"]) == (series.label, series.workload):
                clients = np.geomspace(min(counts), max(counts), FIT_POINTS)
                rates = Law(sweep["law"], **sweep["parameters"]).at(clients)
                line = load_line(series, clients.round(3).tolist(), rates.round(2).tolist())
                line["line"] = {"color": series.colour, "width": 1, "dash": "dot"}
                # The page draws it on request only.
                line["meta"] |= {"fit": True}
                fits.append(line | {"name": f"{escape(series.short)}: {escape(sweep['law'])}"})
    return fits
