"""A whole table in SQLite, through Python's own module of it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbdyno.analytics.table import Table
from dbdyno.errors import RunFailed, UserError
from dbdyno.later import LaterModule
from dbdyno.systems.analyst import Analyst

if TYPE_CHECKING:
    import sqlite3

    from dbdyno.contract import JsonObject
else:
    sqlite3 = LaterModule("sqlite3")

_TYPES = {"integer": "INTEGER", "tiny": "INTEGER"}
_SYNCHRONOUS = ("off", "normal", "full", "extra")
"""By the number that SQLite shows (sqlite.org/pragma.html#pragma_synchronous)."""


class SQLiteAnalyst(Analyst):
    """A connection to the database file at `path`, with the pragmas that the load client sets."""

    by = "a prepared INSERT, a transaction a file"

    def __init__(self, path: Path, settings: JsonObject) -> None:
        self._path = path
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        pragmas = {
            "journal_mode": settings["journal_mode"],
            "synchronous": _SYNCHRONOUS.index(settings["synchronous"]),
            "cache_size": -settings["cache_size_kib"],
            "mmap_size": settings["mmap_size_bytes"],
        }
        try:
            for name, value in pragmas.items():
                self._set(name, value)
        except sqlite3.Error as error:
            self.close()
            raise RunFailed(f"sqlite: {path}: {error}") from None

    @property
    def error(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error,)

    def _set(self, name: str, value: Any) -> None:
        """Set a pragma; raises UserError if SQLite does not take it: it then keeps the old value silently."""
        self.ask(f"PRAGMA {name} = {value}")
        if (effective := self.ask(f"PRAGMA {name}")[0][0]) != value:
            self.close()
            raise UserError(f"sqlite: {name} = {value} was given, and SQLite has {effective}")

    def create(self, table: Table) -> None:
        columns = ", ".join(f'"{column.name}" {_TYPES.get(column.kind, "TEXT")}' for column in table.columns)
        self.ask(f"CREATE TABLE {table.name} ({columns})")

    def load(self, table: Table, paths: Sequence[Path]) -> None:
        width = len(table.columns)
        values = ", ".join(["NULLIF(?, '')"] * width)
        for path in paths:
            with path.open(encoding="latin-1", newline="") as file:
                lines = csv.reader(file)
                next(lines)
                self.ask("BEGIN")
                self._connection.executemany(
                    f"INSERT INTO {table.name} VALUES ({values})", (line[:width] for line in lines)
                )
                self.ask("COMMIT")

    def finish(self, table: Table) -> int:
        del table
        self.ask("PRAGMA wal_checkpoint(TRUNCATE)")
        return self._path.stat().st_size

    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        return self._connection.execute(sql).fetchall()

    def cancel(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()
