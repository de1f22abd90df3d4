"""Throughput of each version of a product, relative to the first of the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from dbdyno.report.core import words
from dbdyno.report.core.loads import Load, load_of
from dbdyno.report.core.looks import store_of
from dbdyno.report.core.page import Page
from dbdyno.report.core.plots import Figure
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.series import Series
from dbdyno.report.core.trial_documents import TrialDocument
from dbdyno.results.client_limit import majority
from dbdyno.stats.comparison import Comparison, compare

LEAST_VERSIONS = 3
"""Two versions are compared in the ranking already."""
MOST_DRAWN = 9
"""Workloads whose plot is also drawn as a file."""
FIRST = "1"
NOTE = (
    "Throughput at each load over that of the first system, pair by pair, with the 95 % interval if trials were "
    "repeated. ≥ and ≤: the client limited most trials of a side."
)


@dataclass(frozen=True, slots=True)
class Sweep:
    """The versions of a product under one workload.

    Attributes:
        name: product and workload.
        versions: their series, in the order of the run.
        ratios: the comparison of each other version with the first, at each load; those that both completed.
        bounds: `≥` or `≤` if the client limited most trials of a side.
    """

    name: str
    versions: Sequence[Series]
    ratios: Mapping[tuple[int, Load], Comparison]
    bounds: Mapping[tuple[int, Load], str]

    @property
    def loads(self) -> list[Load]:
        """The loads with a ratio, rising."""
        return sorted({load for _, load in self.ratios})


def sweeps_of(all_series: Sequence[Series]) -> list[Sweep]:
    """Return the products of which the run has several versions, by workload."""
    grouped: dict[tuple[str, str | None], list[Series]] = defaultdict(list)
    for series in all_series:
        grouped[store_of(str(series.trials[0]["system"])), series.workload].append(series)
    candidates = (_sweep(f"{product} on {workload}", group) for (product, workload), group in grouped.items())
    return [sweep for sweep in candidates if sweep.ratios]


def _sweep(name: str, versions: Sequence[Series]) -> Sweep:
    """Return the sweep; one without ratios if these are no versions."""
    products = {str(series.trials[0]["system"]) for series in versions}
    if len(products) < LEAST_VERSIONS or len(products) < len(versions):
        return Sweep(name, versions, {}, {})
    by_load = [_complete(series) for series in versions]
    ratios, bounds = {}, {}
    for index, own in enumerate(by_load[1:], 1):
        for load in own.keys() & by_load[0].keys():
            repeats = sorted(own[load].keys() & by_load[0][load].keys())
            sides = [[side[load][repeat] for repeat in repeats] for side in (by_load[0], own)]
            first, other = ([trial["throughput_per_s"] or 0.0 for trial in side] for side in sides)
            if repeats and min(*first, *other) > 0:
                ratios[index, load] = compare(first, other)
                limited = [majority([trial["client_limited"] for trial in side]) for side in sides]
                bounds[index, load] = {(True, False): "≤ ", (False, True): "≥ "}.get((limited[0], limited[1]), "")
    return Sweep(name, versions, ratios, bounds)


def _complete(series: Series) -> dict[Load, dict[int, TrialDocument]]:
    """Return the complete trials by load and repetition."""
    by_load: dict[Load, dict[int, TrialDocument]] = defaultdict(dict)
    for trial in series.trials:
        if trial["state"] == "complete" and trial["throughput_per_s"] is not None:
            by_load[load_of(trial)][trial["repeat"] or 1] = trial
    return by_load


def rows(sweep: Sweep, labels: Mapping[Load, str]) -> list[list[str]]:
    """Return a row for each load: its name, then the ratio of each version."""
    return [
        [labels[load], FIRST, *(_in_words(sweep, index, load) for index in range(1, len(sweep.versions)))]
        for load in sweep.loads
    ]


def _in_words(sweep: Sweep, index: int, load: Load) -> str:
    if (ratio := sweep.ratios.get((index, load))) is None:
        return words.UNKNOWN
    ends = (
        "" if ratio.low is None or ratio.high is None else f" [{words.factor(ratio.low)}, {words.factor(ratio.high)}]"
    )
    return f"{sweep.bounds[index, load]}{words.factor(ratio.ratio)}{ends}"


def figure(sweep: Sweep, labels: Mapping[Load, str]) -> Figure:
    """Return the plot: a line for each load through the ratios of the versions, in their order."""
    names = [escape(series.short) for series in sweep.versions]
    return {
        "data": list(_lines(sweep, names, labels)),
        "layout": {
            "xaxis": {"type": "category", "categoryorder": "array", "categoryarray": names},
            "yaxis": {"rangemode": "tozero", "ticksuffix": "×"},
            "showlegend": len(sweep.loads) > 1,
            "hovermode": "closest",
        },
    }


def _lines(sweep: Sweep, names: Sequence[str], labels: Mapping[Load, str]) -> Iterator[Figure]:
    for load in sweep.loads:
        there = [index for index in range(1, len(names)) if (index, load) in sweep.ratios]
        ratios = [sweep.ratios[index, load] for index in there]
        above = [0.0, *((ratio.high or ratio.ratio) - ratio.ratio for ratio in ratios)]
        below = [0.0, *(ratio.ratio - (ratio.low or ratio.ratio) for ratio in ratios)]
        label = escape(labels[load])
        yield {
            "type": "scatter",
            "mode": "lines+markers",
            "x": [names[0], *(names[index] for index in there)],
            "y": [1.0, *(round(ratio.ratio, 4) for ratio in ratios)],
            "error_y": {"type": "data", "symmetric": False, "array": above, "arrayminus": below},
            "name": label,
            "hovertemplate": f"%{{x}}, {label}<br><b>%{{y:.3g}}×</b><extra></extra>",
        }


def part(page: Page) -> Part | None:
    """Return a table and a plot for each product and workload, or `None` without several versions of a product."""
    sweeps = sweeps_of(page.series) if page.clients_loaded else []
    tables = [
        {
            "name": sweep.name,
            "plot": f"versions-{number}",
            "headings": ["load", *(series.short for series in sweep.versions)],
            "rows": rows(sweep, page.load_labels),
        }
        for number, sweep in enumerate(sweeps)
    ]
    plots = {f"versions-{number}": figure(sweep, page.load_labels) for number, sweep in enumerate(sweeps)}
    return Part({"note": NOTE, "tables": tables}, plots) if tables else None


SECTION = Section(
    "versions.html.j2",
    part,
    {f"versions-{number}": "Throughput relative to the first version" for number in range(MOST_DRAWN)},
)
