"""The formats by name: what each is made of, and what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from dbdyno.errors import UserError
from dbdyno.export.names import TABLES_OF
from dbdyno.results.model import Run
from dbdyno.tables.catalogue import TABLES
from dbdyno.tables.table import need

_FUNCTIONS = {
    "csv": "to_csv",
    "parquet": "to_parquet",
    "prometheus": "to_prometheus",
    "junit": "to_junit",
    "otava": "to_otava",
    "markdown": "to_markdown",
}
"""The name of the writing function in each format's module, which is loaded when it is used."""


class Exported(NamedTuple):
    """A file's content; notes: what is not in it, a sentence each."""

    content: bytes
    notes: tuple[str, ...] = ()


def export(runs: Sequence[Run], wanted: str, table: str | None) -> Exported:
    """Return runs in a format; table: which of its tables, or None for `trials`.

    Raises UserError if the format has no such table, or its library is not installed.
    """
    if table is not None and table not in TABLES_OF[wanted]:
        tables = ", ".join(TABLES_OF[wanted])
        raise UserError(
            f"--table {table}: {wanted} has {f'the tables {tables}' if tables else 'no tables; leave --table out'}"
        )
    if wanted == "prometheus":
        need("prometheus_client", "prometheus")
    write = getattr(import_module(f"dbdyno.export.{wanted}"), _FUNCTIONS[wanted])
    if wanted == "otava":
        text, left_out = write(runs)
        notes = (f"left out, as not every run has it: {', '.join(left_out)}",) if left_out else ()
        return Exported(text.encode(), notes)
    content = write(TABLES[table or "trials"](runs) if TABLES_OF[wanted] else runs)
    return Exported(content if isinstance(content, bytes) else content.encode())
