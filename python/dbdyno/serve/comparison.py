"""Two runs of a folder beside each other, as `dbdyno compare` compares them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dbdyno.contract import JsonObject
from dbdyno.errors import UserError
from dbdyno.report.cells import sides_of_runs
from dbdyno.report.comparison import compare_sides, comparison_document
from dbdyno.results.foreign_content import understood
from dbdyno.results.noise import known_noise
from dbdyno.results.read import read_run
from dbdyno.stats.margin import MARGIN
from dbdyno.tables.redaction import redacted_document, redacted_text


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs compared: `document` is that of `dbdyno compare --json`; `refused` says why there is none."""

    document: JsonObject | None
    refused: str = ""


def compared(baseline: Path, candidate: Path, force: bool) -> Compared:
    """Compare two runs; `force`: also if their conditions differ."""
    try:
        with understood(baseline, candidate):
            sides = sides_of_runs(read_run(baseline), read_run(candidate))
            verdicts = compare_sides(sides, MARGIN, known_noise(baseline, candidate), force)
            return Compared(redacted_document(comparison_document(verdicts)))
    except UserError as error:
        return Compared(None, redacted_text(str(error)))
