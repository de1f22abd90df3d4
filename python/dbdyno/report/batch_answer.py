"""The gain of a store if a request asks for many rows, in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.report.core.loads import rate_per_s
from dbdyno.report.core.named_workload import named_workload

if TYPE_CHECKING:
    from dbdyno.report.core.trial_documents import TrialDocument

Speeds = dict[int, float]
"""Rows a second by the number of keys a request."""


def by_batch(trials: Iterable[TrialDocument]) -> list[str]:
    """Return for each system how many times as many rows a second it gave with most keys a request as with fewest.

    The system that gained most comes first. Empty if the number of keys was not varied.
    """
    speeds = _speeds(trials)
    varied = {keys for of_label in speeds.values() for keys in of_label}
    few, many = min(varied, default=0), max(varied, default=0)
    both = {label: of_label for label, of_label in speeds.items() if few in of_label and many in of_label}
    if few == many or not both:
        return []
    gains = {label: of_label[many] / of_label[few] for label, of_label in both.items()}
    return [
        f"{label} gave {words.factor(gain)} × as many rows a second with {many} keys a request as with {few}: "
        f"{words.significant(both[label][many])}/s."
        for label, gain in sorted(gains.items(), key=lambda item: -item[1])
    ]


def _speeds(trials: Iterable[TrialDocument]) -> dict[str, Speeds]:
    """Return the median rows a second of each system by the keys a request, at the load at which that is highest."""
    rates: dict[str, dict[tuple[int, int | None], list[float]]] = {}
    for trial in trials:
        if batch := named_workload(trial["workload"]).options.get("batch"):
            of_label = rates.setdefault(trial["label"], {})
            of_label.setdefault((int(batch), trial["clients"]), []).append(rate_per_s(trial))
    speeds: dict[str, Speeds] = {}
    for label, of_label in rates.items():
        for (keys, _), repeated in of_label.items():
            best = speeds.setdefault(label, {})
            best[keys] = max(best.get(keys, 0.0), keys * median(repeated))
    return speeds
