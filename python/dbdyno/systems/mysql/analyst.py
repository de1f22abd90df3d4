"""A whole table in a server of the MySQL protocol: LOAD DATA LOCAL, and queries by PyMySQL."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbdyno.analytics.table import Column, Table
from dbdyno.errors import UserError
from dbdyno.later import LaterModule
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.attached_analyst import AttachedAnalyst
from dbdyno.systems.mysql.client import connect
from dbdyno.systems.running.endpoint import Endpoint

if TYPE_CHECKING:
    import pymysql
else:
    pymysql = LaterModule("pymysql")

_NO_FILES = (1148, 3948, 4166)
"""ER_NOT_ALLOWED_COMMAND, and what MySQL 8.0 and MariaDB 10.3 say since."""
_TYPES = {"integer": "INT", "tiny": "TINYINT", "date": "DATE"}


class _MySQLAnalyst(Analyst):
    """A connection to `endpoint`; the table is made in `engine`, or the server's default."""

    @property
    def error(self) -> tuple[type[Exception], ...]:
        return (pymysql.MySQLError, OSError)

    by = "LOAD DATA LOCAL INFILE, a file each"

    def __init__(self, endpoint: Endpoint, engine: str | None) -> None:
        self._endpoint, self._engine = endpoint, engine
        self._connection = connect(
            endpoint,
            database=endpoint.database,
            charset="latin1",
            autocommit=True,
            local_infile=True,
            init_command="SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')",
        )

    def _create(self, table: Table, comment: str = "") -> None:
        columns = ", ".join(f"`{column.name}` {_type(column)}" for column in table.columns)
        engine = f" ENGINE={self._engine}" if self._engine else ""
        self._execute(f"CREATE TABLE {table.name} ({columns}) CHARACTER SET latin1{engine} COMMENT %s", [comment])

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

    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        return self._execute(sql)

    def _execute(self, sql: str, values: list[str] | None = None) -> Sequence[Sequence[Any]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values)
            rows: Sequence[Sequence[Any]] = cursor.fetchall()
            return rows

    def cancel(self) -> None:
        # The server sees it when it next wants to send.
        self._connection._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._connection.close()


class MySQLAnalyst(_MySQLAnalyst):
    """A connection to a private server, whose files are in `data`."""

    def __init__(self, endpoint: Endpoint, engine: str | None, data: Path) -> None:
        super().__init__(endpoint, engine)
        self._data = data

    def create(self, table: Table) -> None:
        # Newer servers of this protocol refuse files of a client until told otherwise.
        self.ask("SET GLOBAL local_infile = 1")
        self._create(table)

    def finish(self, table: Table) -> int:
        self.ask(f"FLUSH TABLES {table.name}")
        return sum(path.stat().st_size for path in self._data.glob(f"*/{table.name}[.#]*"))


class AttachedMySQLAnalyst(AttachedAnalyst, _MySQLAnalyst):
    """A connection to somebody else's server."""

    def create_marked(self, table: Table, marker: str) -> None:
        self._create(table, marker)

    def comment(self, table: Table) -> str | None:
        there = self._execute(
            "SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = %s",
            [table.name],
        )
        return str(there[0][0]) if there else None

    def load(self, table: Table, paths: Sequence[Path]) -> None:
        try:
            super().load(table, paths)
        except pymysql.MySQLError as error:
            if error.args[0] in _NO_FILES:
                raise UserError(
                    f"the server takes no file of a client ({error.args[1]}): its administrator permits it by "
                    "SET GLOBAL local_infile = 1"
                ) from None
            raise

    def finish(self, table: Table) -> int:
        # Until then the server may not know how large the table has grown.
        self.ask(f"ANALYZE NO_WRITE_TO_BINLOG TABLE {table.name}")
        ((size_bytes,),) = self._execute(
            "SELECT data_length + index_length FROM information_schema.tables "
            "WHERE table_schema = DATABASE() AND table_name = %s",
            [table.name],
        )
        return int(size_bytes)

    def cancel(self) -> None:
        # Others work there: a query that nobody waits for must not go on.
        try:
            with closing(connect(self._endpoint)) as other, other.cursor() as cursor:
                cursor.execute(f"KILL {self._connection.thread_id()}")
        except self.error:
            super().cancel()


def _type(column: Column) -> str:
    text = "CHAR" if column.kind == "char" else "VARCHAR"
    return _TYPES.get(column.kind) or f"{text}({column.length})"
