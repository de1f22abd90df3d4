"""The systems of a run as its report shows them: each with one look, in every plot and table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbdyno.report.core.loads import Load, load_of, loads, rate_per_s
from dbdyno.report.core.looks import Look, hues, looks, store_of
from dbdyno.report.core.names import short_names
from dbdyno.report.core.words import groups
from dbdyno.results.operations import CLIENTS, KIND, NEITHER, READS, WRITES, group_of

if TYPE_CHECKING:
    from dbdyno.report.core.documents import RunDocument
    from dbdyno.report.core.trial_documents import TrialDocument

HOVERED = 12
"""Systems whose figures fit beside the pointer."""
_ORDER = (READS, WRITES, NEITHER)


@dataclass(frozen=True, slots=True)
class Series:
    """One system (and workload): its trials, and how it looks in every plot.

    Attributes:
        index: its position among the series of the run.
        short: its short name, without the parts that all names share
            (`dbdyno.report.core.names`).
    """

    index: int
    label: str
    workload: str | None
    name: str
    durability: str
    durability_reason: str
    trials: Sequence[TrialDocument]
    look: Look
    short: str

    @property
    def colour(self) -> str:
        """Its colour, a shade of its store's hue."""
        return self.look.colour


def series_of(document: RunDocument) -> list[Series]:
    """Return the series of a run, in its order; the workload is named if there are several."""
    grouped = groups(document)
    several = len({workload for _, workload in grouped}) > 1
    stores = [store_of(str(trials[0]["system"])) for trials in grouped.values()]
    hue_of = hues(stores)
    names = [f"{label} · {workload}" if several else label for label, workload in grouped]
    return [
        Series(
            index,
            label,
            workload,
            name,
            " / ".join(sorted({str(trial["durability"] or "unknown") for trial in trials})),
            "; ".join(dict.fromkeys(str(trial["durability_reason"] or "") for trial in trials)),
            trials,
            look,
            short,
        )
        for index, (((label, workload), trials), name, short, look) in enumerate(
            zip(
                grouped.items(),
                names,
                short_names(names)[0],
                looks([hue_of[store] for store in stores]),
                strict=True,
            )
        )
    ]


def hovermode(all_series: Sequence[Series]) -> str:
    """Return what a plot shows at the pointer: every system at that x, unless so many would cover the plot."""
    return "x unified" if len(all_series) <= HOVERED else "closest"


def operations(all_series: Sequence[Series]) -> dict[str, str | None]:
    """Return the operations of the run's transactions, by name, each with its logical operation; reads, then writes.

    Transactions of several kinds stand in their place: dozens of plots would show nothing.
    """
    operation_of: dict[str, str | None] = {}
    for series in all_series:
        for trial in series.trials:
            for name, operation in trial["operations"].items():
                if operation["operation"] != CLIENTS:
                    operation_of.setdefault(name, operation["operation"])
    kinds: dict[str, str | None] = {name: operation for name, operation in operation_of.items() if operation == KIND}
    return kinds or dict(sorted(operation_of.items(), key=lambda item: _ORDER.index(group_of(item[1]))))


def trials_of(all_series: Iterable[Series]) -> list[TrialDocument]:
    """Return all trials of all systems."""
    return [trial for series in all_series for trial in series.trials]


def load_labels(all_series: Sequence[Series]) -> dict[Load, str]:
    """Return the loads of the sweep, rising, each with its name."""
    all_loads = loads(trials_of(all_series))
    several = len({load.clients for load in all_loads}) > 1
    return {load: load.label(several) for load in all_loads}


def representatives(series: Series) -> dict[Load, TrialDocument]:
    """Return the complete trial of each load; of several repetitions the one of median throughput.

    Neither percentiles nor costs of several trials may be averaged.
    """
    by_load: dict[Load, list[TrialDocument]] = defaultdict(list)
    for trial in series.trials:
        if trial["state"] == "complete" and trial["throughput_per_s"] is not None:
            by_load[load_of(trial)].append(trial)
    return {load: sorted(trials, key=rate_per_s)[(len(trials) - 1) // 2] for load, trials in sorted(by_load.items())}


def places_of(all_series: Iterable[Series]) -> dict[Load, int]:
    """Return the index of each load among those of the run."""
    return {load: index for index, load in enumerate(loads(trials_of(all_series)))}
