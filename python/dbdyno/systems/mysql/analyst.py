"""A whole table in a private server of the MySQL protocol: LOAD DATA LOCAL, and queries by PyMySQL."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbdyno.analytics.table import Column, Table
from dbdyno.later import LaterModule
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.mysql.client import connect
from dbdyno.systems.running.endpoint import Endpoint

if TYPE_CHECKING:
    import pymysql
else:
    pymysql = LaterModule("pymysql")

_TYPES = {"integer": "INT", "tiny": "TINYINT", "date": "DATE"}


class MySQLAnalyst(Analyst):
    """A connection to `endpoint`; the table is made in `engine`, or the server's default, its files in `data`."""

    @property
    def error(self) -> tuple[type[Exception], ...]:
        return (pymysql.MySQLError, OSError)

    by = "LOAD DATA LOCAL INFILE, a file each"

    def __init__(self, endpoint: Endpoint, engine: str | None, data: Path) -> None:
        self._engine, self._data = engine, data
        self._connection = connect(
            endpoint,
            database=endpoint.database,
            charset="latin1",
            autocommit=True,
            local_infile=True,
            init_command="SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')",
        )

    def create(self, table: Table) -> None:
        columns = ", ".join(f"`{column.name}` {_type(column)}" for column in table.columns)
        engine = f" ENGINE={self._engine}" if self._engine else ""
        # Newer servers of this protocol refuse files of a client until told otherwise.
        self.ask("SET GLOBAL local_infile = 1")
        self.ask(f"CREATE TABLE {table.name} ({columns}) CHARACTER SET latin1{engine}")

    def load(self, table: Table, paths: Sequence[Path]) -> None:
        for path in paths:
            self._load(table, path)

    def _load(self, table: Table, path: Path) -> None:
        fields = ", ".join(f"@{column.name}" for column in table.columns)
        values = ", ".join(f"`{column.name}` = NULLIF(@{column.name}, '')" for column in table.columns)
        self._execute(
            f"LOAD DATA LOCAL INFILE %s INTO TABLE {table.name} CHARACTER SET latin1 FIELDS TERMINATED BY ',' "
            f"OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\\n' IGNORE 1 LINES "
            f"({fields}, @the_end) SET {values}",
            [str(path)],
        )

    def finish(self, table: Table) -> int:
        self.ask(f"FLUSH TABLES {table.name}")
        return sum(path.stat().st_size for path in self._data.glob(f"*/{table.name}[.#]*"))

    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        return self._execute(sql)

    def _execute(self, sql: str, values: list[str] | None = None) -> Sequence[Sequence[Any]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values)
            rows: Sequence[Sequence[Any]] = cursor.fetchall()
            return rows

    def cancel(self) -> None:
        # The server sees it when it next wants to send; the one that runs is private, and stopped soon.
        self._connection._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._connection.close()


def _type(column: Column) -> str:
    text = "CHAR" if column.kind == "char" else "VARCHAR"
    return _TYPES.get(column.kind) or f"{text}({column.length})"
