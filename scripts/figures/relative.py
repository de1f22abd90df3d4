"""Each system of a documented run relative to the run's first: a product's versions, the oldest first."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Relative:
    """A system's throughput over that of the first, with the 95 % interval."""

    ratio: float
    low: float
    high: float


Row = tuple[str, int]
"""A workload, and a number of clients."""


def systems_of(run: Mapping[str, Any]) -> list[str]:
    """Return the systems by label, as the command names them."""
    there = {trial["label"] for trial in run["trials"]}
    words = run["command"].split()
    named = [word.strip("'") for before, word in itertools.pairwise(words) if before == "--system"]
    return [label for word in named for label in _versions(word, there)]


def _versions(word: str, there: set[str]) -> list[str]:
    """Return the labels that a word of the command stands for: itself, or each version of a range."""
    product, _, versions = word.partition("@")
    if ".." not in versions:
        return [word]
    return sorted(label for label in there if label.startswith(f"{product}@"))


def relative(run: Mapping[str, Any]) -> dict[Row, dict[str, Relative]]:
    """Return the ratio of each other system to the first, by load; none if a side has no interval."""
    first = systems_of(run)[0]
    rows: dict[Row, dict[str, Relative]] = {}
    for cell in (run["comparison"] or {"cells": ()})["cells"]:
        labels = [cell[side]["label"] for side in ("baseline", "candidate")]
        if first not in labels or cell["low"] is None:
            continue
        values = [cell["ratio"], cell["low"], cell["high"]]
        if labels[1] == first:
            values = [1 / cell["ratio"], 1 / cell["high"], 1 / cell["low"]]
        other = labels[1 - labels.index(first)]
        rows.setdefault((cell["workload"], cell["clients"]), {})[other] = Relative(*values)
    return dict(sorted(rows.items()))
