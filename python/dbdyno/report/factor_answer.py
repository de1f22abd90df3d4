"""How the throughput of a system follows a key whose values make its variants, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dbdyno.report.core import words
from dbdyno.report.core.loads import rate_per_s
from dbdyno.results.rivals import base_of

if TYPE_CHECKING:
    from dbdyno.report.core.trial_documents import TrialDocument

MOST_SYSTEMS = 3
"""With more systems only the table says it."""


def by_variant(trials: Sequence[TrialDocument]) -> list[str]:
    """Return a sentence for each system: its throughput in each variant, at the load at which that is highest.

    Empty if nothing was varied, or several keys were that do not change together.
    """
    grouped: dict[tuple[str, str | None], dict[str, list[TrialDocument]]] = {}
    for trial in trials:
        key = base_of(trial["label"], trial.get("variant", {})), trial["workload"]
        grouped.setdefault(key, {}).setdefault(trial["label"], []).append(trial)
    several = len({workload for _, workload in grouped}) > 1
    said = [
        f"{name} on {workload} {sentence}" if several else f"{name} {sentence}"
        for (name, workload), labels in grouped.items()
        for sentence in _sentences(list(labels.values()))
    ]
    return said if len(said) <= MOST_SYSTEMS else []


def _sentences(variants: Sequence[Sequence[TrialDocument]]) -> Iterator[str]:
    best = [max(trials, key=rate_per_s) for trials in variants]
    keys = [trial.get("variant", {}) for trial in best]
    varied = [key for key in keys[0] if len({variant.get(key) for variant in keys}) > 1]
    if varied and all(len({variant.get(key) for variant in keys}) == len(keys) for key in varied):
        figures = [
            f"{'≥' if trial['client_limited'] else ''}{words.significant(rate_per_s(trial))}/s ({variant[varied[0]]})"
            for trial, variant in zip(best, keys, strict=True)
        ]
        yield f"by {varied[0]}: {', '.join(figures)}."
