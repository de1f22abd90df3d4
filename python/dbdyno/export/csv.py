"""A table as CSV: a header line, then one line a row; empty if not known."""

from __future__ import annotations

import csv
import io
from typing import Any

from dbdyno.tables.table import Table


def to_csv(table: Table) -> str:
    """Return a table as CSV (RFC 4180, with `\\n` at the end of a line)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in table.columns)
    for row in table.rows():
        writer.writerow(map(_cell, row))
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value
