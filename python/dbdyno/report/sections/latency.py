"""Latency against load: the median of the transactions, and a percentile that the reader chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dbdyno.report.core.against_load import against_load
from dbdyno.report.core.loads import time_name, times_us
from dbdyno.report.core.page import PERCENTILES, Page
from dbdyno.report.core.plots import Figure, plot_unit, scaled
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series, trials_of
from dbdyno.report.core.trial_documents import TrialDocument


def part(page: Page) -> Part | None:
    """Return the plots of those percentiles for which there are enough transactions."""
    plots = figures(page.series) if page.clients_loaded else {}
    return Part(figures=plots) if plots else None


SECTION = Section("latency.html.j2", part, {"latency-p50": "Median {time}", "latency-p99": "p99 {time}"})


def figures(all_series: Sequence[Series]) -> dict[str, Figure]:
    """Return the plots by id; one without data is left out."""
    unit, length_us = plot_unit(all_series)
    name = time_name(trials_of(all_series))

    def percentile(key: str) -> Callable[[TrialDocument], float | None]:
        return lambda trial: scaled(times_us(trial["transaction"], name)[key], length_us)

    plots = {f"latency-{key}": against_load(all_series, percentile(key), unit) for key in PERCENTILES}
    return {id: plot for id, plot in plots.items() if plot["data"]}
