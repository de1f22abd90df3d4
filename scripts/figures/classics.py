"""The table of classic questions: the published answer and today's, from kept summaries."""

import json
from collections.abc import Mapping
from pathlib import Path

from scripts.figures.declared import Figures
from scripts.figures.tables import quoted
from scripts.reference.markdown import code, table


def classics(root: Path, runs: Mapping[str, Figures]) -> str:
    """Return a row for each documented run that repeats a published experiment."""
    rows = [_row(root, figures) for figures in runs.values() if figures.classic]
    return table(("Question", "Answer then", "Answer now", "Limited by", "Command and evidence"), rows)


def _row(root: Path, figures: Figures) -> tuple[str, ...]:
    headline = json.loads((root / figures.result).read_text(encoding="utf-8"))["headline"]
    limits = [f"{label}: {limit}" for label, limit in headline["limits"].items()]
    evidence = f"[page]({figures.name}.md#a-run), [summary](../../{figures.result.as_posix()})"
    return (
        figures.classic,
        figures.then,
        headline["sentence"],
        "; ".join(limits),
        f"{code(' '.join(quoted(figures.command)))}; {evidence}",
    )
