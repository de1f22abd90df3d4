"""SQLite, copied by its command line: as SQL, or page by page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule
from dbdyno.systems.copier import COPY_NAME, Call, Copier, Row, Stage, Tool

if TYPE_CHECKING:
    import sqlite3
else:
    sqlite3 = LaterModule("sqlite3")

# `.dump` of a single table leaves out its indexes, and a database has one writer, so there is one worker.
TOOLS: Mapping[str, Tool] = {
    "sql": Tool(("sqlite3",), "sqlite3", parallel=False),
    "files": Tool(("sqlite3",), "sqlite3", parallel=False),
}


class SQLiteCopier(Copier):
    """Copies the database file at `path` to one beside it; program: the path of `sqlite3`."""

    # The file is made by the load client.
    as_server = False

    def __init__(self, path: Path, tool: str, program: str) -> None:
        self._path, self._tool, self._program = path, tool, program
        self.home = path.parent
        self._copy, self._folder = self.home / COPY_NAME, self.home / "dump"

    @property
    def error(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error, OSError)

    def _ask(self, sql: str, of_copy: bool) -> list[Row]:
        with closing(self._open(of_copy)) as connection:
            rows: list[Row] = connection.execute(sql).fetchall()
            return rows

    def _open(self, of_copy: bool) -> sqlite3.Connection:
        connection = sqlite3.connect(self._copy if of_copy else self._path, check_same_thread=False)
        # Text stays another thing than a blob of its bytes, also where it is no UTF-8.
        connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
        return connection

    def tables(self, of_copy: bool) -> list[str]:
        rows = self._ask("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1", of_copy)
        return [str(name) for (name,) in rows]

    def count(self, table: str) -> int:
        ((rows,),) = self._ask(f'SELECT COUNT(*) FROM "{table}"', False)
        return int(rows or 0)

    def create(self) -> Path:
        self.drop()
        self._folder.mkdir()
        return self._folder

    def dump(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        del tables
        if self._tool == "files":
            return [Stage([Call([self._program, str(self._path), f"VACUUM INTO '{folder / 'all'}'"])])]
        return [Stage([Call([self._program, str(self._path), ".dump"], writes=folder / "all")])]

    def restore(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        del tables
        if self._tool == "files":
            return [Stage([Call([self._program, str(self._copy), f".restore '{folder / 'all'}'"])])]
        return [Stage([Call([self._program, "-bail", str(self._copy)], reads=folder / "all")])]

    def definition(self, table: str, of_copy: bool) -> list[str]:
        rows = self._ask(f"SELECT sql FROM sqlite_master WHERE tbl_name = '{table}' ORDER BY name", of_copy)
        return [str(sql) for (sql,) in rows]

    def rows(self, table: str, of_copy: bool) -> Iterator[Row]:
        with closing(self._open(of_copy)) as connection:
            for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY id'):
                # In Python 1 equals 1.0, which SQLite keeps apart.
                yield tuple(map(repr, row))

    def drop(self) -> None:
        for path in self.home.glob(f"{COPY_NAME}*"):
            path.unlink()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        return
