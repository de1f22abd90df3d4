"""The verdicts that the page is made of, kept in results/: repetitions can be added on another day."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .case import Case, Load, Variant
from .cases import CASES
from .grade import Verdict

RESULT, PAGE = Path("results/verdicts.jsonl"), Path("docs/verdicts.md")
"""Paths from the project's root: the verdicts, and the page that is made of them."""
SCENARIOS: dict[str, Load | Case] = {case.load.name: case.load for case in CASES} | {case.name: case for case in CASES}
Key = tuple[Load | Case, Variant, int]


@dataclass
class Kept:
    """The content of a file of verdicts.

    left_out, failed: why a case was not run, and why a run did not end. processors: of the host.
    """

    verdicts: dict[Key, Verdict] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    processors: int = field(default_factory=lambda: os.cpu_count() or 1)

    def add(self, verdict: Verdict) -> None:
        """Put a verdict in the place of an earlier one on the same repetition."""
        self.verdicts[verdict.scenario, verdict.variant, verdict.repeat] = verdict

    def write(self, path: Path) -> None:
        """Write a line about the whole, and one for each verdict."""
        whole = {key: getattr(self, key) for key in ("processors", "left_out", "failed")}
        lines = [whole, *map(_written, self.verdicts.values())]
        path.write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in lines), encoding="utf-8")


def read_kept(path: Path) -> Kept:
    """Return what a file holds; nothing if there is none. Cases and variants that are gone since are left out."""
    if not path.is_file():
        return Kept()
    whole, *verdicts = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    kept = Kept({}, **whole)
    for verdict in verdicts:
        scenario, variant = SCENARIOS.get(verdict["scenario"]), Variant(verdict["variant"])
        if scenario and variant in scenario.ways:
            kept.add(Verdict(**verdict | {"scenario": scenario, "variant": variant}))
    return kept


def _written(verdict: Verdict) -> dict[str, Any]:
    return {
        "scenario": verdict.scenario.name,
        "variant": verdict.variant.value,
        "repeat": verdict.repeat,
        "limit": verdict.limit,
        "confidence": verdict.confidence,
        "sentence": verdict.sentence,
        "throughput_per_s": round(verdict.throughput_per_s, 1),
        "taken": verdict.taken,
    }
