"""A run as its report shows it: the values that its sections share, each computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from dbdyno.report.core import words
from dbdyno.report.core.loads import Load, is_open, load_of, rate_per_s, time_label, time_name, times_us
from dbdyno.report.core.names import short_names
from dbdyno.report.core.plots import at_one_load, plot_unit
from dbdyno.report.core.recordings import Recordings
from dbdyno.report.core.series import Series, load_labels, series_of, trials_of

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.trial_documents import TrialDocument

Context: TypeAlias = Mapping[str, Any]
"""The variables of a template, among them functions."""

PERCENTILES = {"p50": "p50", "p95": "p95", "p99": "p99", "p999": "p99.9"}
"""The percentiles that a reader chooses from, by the document's key."""

MOST_IN_COLOUR = 6
"""More lines cannot be distinguished: one is highlighted and the others are grey, until a reader wants all in
colour."""


@dataclass(frozen=True)
class Page:
    """One run's report.

    Attributes:
        document: what `dbdyno.report.document.document` returned.
        recordings: data for the plots over time.
        flames: names and SVGs of flame graphs.
        nameless: files whose functions have no names in the flame graphs, and the packages that have the names.
        counters: a profiled process, and the events that processors counted of it for a transaction.
        clients_loaded: clients generated the load, so there are loads, latencies and limits.
    """

    document: RunDocument
    recordings: Recordings = field(default_factory=Recordings)
    flames: Sequence[tuple[str, str]] = ()
    nameless: Sequence[tuple[str, str | None]] = ()
    counters: Sequence[tuple[str, str]] = ()
    clients_loaded: bool = True

    @cached_property
    def series(self) -> list[Series]:
        """The systems, each with its look."""
        return series_of(self.document)

    @cached_property
    def trials(self) -> list[TrialDocument]:
        """The trials of all systems."""
        return trials_of(self.series)

    @cached_property
    def load_labels(self) -> Mapping[Load, str]:
        """The loads, rising, each with its name."""
        return load_labels(self.series)

    @cached_property
    def first(self) -> tuple[Series, TrialDocument] | None:
        """The system and trial that the headline begins with; `None` if it names none."""
        names = set(self.document["headline"]["trials"].values())
        named = [(series, trial) for series in self.series for trial in series.trials if trial["trial"] in names]
        return max(named, key=lambda pair: rate_per_s(pair[1]), default=None)

    @cached_property
    def time_name(self) -> str:
        """The time that is shown, response time or service time, in words."""
        return time_label(self.trials).split(",")[0]

    @cached_property
    def left_out_of_names(self) -> str:
        """The parts that the systems' short names leave out, as a sentence; empty if none."""
        _, left_out = short_names([series.name for series in self.series])
        return f"After each name, in this order: {left_out}" if left_out else ""

    @cached_property
    def context(self) -> Context:
        """The variables of every template."""
        unit, length_us = words.latency_unit(self.trials)
        time = time_name(self.trials)
        labels = list(self.load_labels)
        return {
            "document": self.document,
            "series": self.series,
            "words": words,
            "clients_loaded": self.clients_loaded,
            "open": is_open(self.trials),
            "of_time": lambda counted: times_us(counted, time),
            "time_name": self.time_name,
            "time_label": time_label(self.trials),
            "unit": unit,
            "length_us": length_us,
            "plot_unit": plot_unit(self.series)[0],
            "load_labels": list(self.load_labels.values()),
            "load_labels_by_load": self.load_labels,
            "chosen": labels.index(load_of(self.first[1])) if self.first else len(labels) - 1,
            "chosen_series": self.first[0].index if self.first else 0,
            "left_out_of_names": self.left_out_of_names,
            "one_load": at_one_load(self.series),
            "percentiles": PERCENTILES,
            "most_in_colour": MOST_IN_COLOUR,
            "several_workloads": len({series.workload for series in self.series}) > 1,
            "trial_count": len(self.trials),
        }
