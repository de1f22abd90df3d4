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

Speeds = dict[int, list[float]]
"""Rows a second of each repetition in their order, by the number of keys a request."""


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
    gains = {label: median(of_label[many]) / median(of_label[few]) for label, of_label in both.items()}
    return [
        f"{label} gave {words.factor(gain)} ×{_range(both[label][many], both[label][few])} as many rows a second with "
        f"{many} keys a request as with {few}: {words.significant(median(both[label][many]))}/s."
        for label, gain in sorted(gains.items(), key=lambda item: -item[1])
    ]


def _range(many: list[float], few: list[float]) -> str:
    """Return the lowest and the highest gain of the repetitions, in brackets; empty if there is one."""
    gains = [of_many / of_few for of_many, of_few in zip(many, few, strict=False)]
    return f" ({words.factor(min(gains))} to {words.factor(max(gains))})" if len(gains) > 1 else ""


def _speeds(trials: Iterable[TrialDocument]) -> dict[str, Speeds]:
    """Return the rows a second of each system by the keys a request, at the load at which their median is highest."""
    rates: dict[str, dict[tuple[int, int | None], list[float]]] = {}
    for trial in trials:
        if batch := named_workload(trial["workload"]).options.get("batch"):
            of_label = rates.setdefault(trial["label"], {})
            of_label.setdefault((int(batch), trial["clients"]), []).append(rate_per_s(trial))
    speeds: dict[str, Speeds] = {}
    for label, of_label in rates.items():
        for (keys, _), repeated in of_label.items():
            rows_per_s = [keys * rate for rate in repeated]
            best = speeds.setdefault(label, {})
            best[keys] = max(best.get(keys, rows_per_s), rows_per_s, key=median)
    return speeds
