"""Runs as Markdown: what `dbdyno report RUN --format markdown` prints, without passwords."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.report.document import document
from dbdyno.report.markdown import render
from dbdyno.results.model import Run
from dbdyno.tables.redaction import redacted_document


def to_markdown(runs: Sequence[Run]) -> str:
    """Return runs as Markdown, one after the other."""
    return "\n".join(render(redacted_document(document(run, timelines=False))) for run in runs)
