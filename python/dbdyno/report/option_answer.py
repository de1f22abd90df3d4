"""The cost of a workload's options, such as a secondary index: each variant against the first, on each system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.report.cells import option_sides
from dbdyno.report.comparison import INVALID, compare_sides, comparison_document
from dbdyno.report.core import words
from dbdyno.report.core.loads import LOAD_KEYS, at
from dbdyno.results.noise import known_noise
from dbdyno.stats.margin import MARGIN

if TYPE_CHECKING:
    from dbdyno.report.core.documents import CellDocument, ComparisonDocument
    from dbdyno.results.model import Run

MOST_SYSTEMS = 3
"""With more systems only the comparison says it."""
_DECIDED = ("faster", "slower")


def compared_options(run: Run) -> ComparisonDocument | None:
    """Return each variant of a workload against the first variant on the same system, corrected over all cells.

    `None` if there is nothing to compare: one trial a cell, or no workload with two variants.
    """
    if max((trial.facts.repeat or 1 for trial in run.trials), default=1) < 2:
        return None
    try:
        return comparison_document(compare_sides(option_sides(run), MARGIN, known_noise(run.path), force=False))
    except UserError:
        # There are no variants, or no two were measured at the same load.
        return None


def by_option(comparison: ComparisonDocument | None) -> list[str]:
    """Return a sentence for each system: its variants against the first, at the load at which the first does most."""
    grouped: dict[tuple[str, str], list[CellDocument]] = {}
    for cell in comparison["cells"] if comparison else ():
        if cell["verdict"] != INVALID and cell["ratio"] is not None:
            grouped.setdefault((cell["baseline"]["label"], str(cell["workload"])), []).append(cell)
    return [_sentence(cells) for cells in grouped.values()] if len(grouped) <= MOST_SYSTEMS else []


def _sentence(cells: list[CellDocument]) -> str:
    best = max(cells, key=lambda cell: cell["baseline"]["throughput_per_s"] or 0.0)
    same = [cell for cell in cells if all(cell[key] == best[key] for key in LOAD_KEYS)]
    figures = ", ".join(f"{cell['candidate']['variant']} {_times(cell)}" for cell in same)
    load = at({"clients": best["clients"], "rate": None})
    return f"{best['baseline']['label']} {load} against {best['baseline']['variant']}: {figures}."


def _times(cell: CellDocument) -> str:
    """Return how many times the first variant's throughput another reached, with the interval and any doubt."""
    times, low, high = (words.UNKNOWN if value is None else words.factor(value) for value in _interval(cell))
    doubt = "" if cell["verdict"] in _DECIDED else f" ({cell['verdict']})"
    return f"{times}× [{low} to {high}]{doubt}"


def _interval(cell: CellDocument) -> tuple[float | None, ...]:
    return cell["ratio"], cell["low"], cell["high"]
