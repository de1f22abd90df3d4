"""The base of the libraries that follow the Python Database API (PEP 249).

Statements go with the values beside them (`cursor.execute(sql, values)`), autocommit on. The libraries for the MySQL
protocol put the values into the text, so the server parses every statement. That too is what the library costs.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from typing import Any

from dbdyno.load_python import session
from dbdyno.load_python.column import Value
from dbdyno.load_python.failure import Failure
from dbdyno.load_python.table import Row, Table
from dbdyno.load_python.workloads import Step

_LOST = (2006, 2013, 2014, 2055)
"""Gone away, lost during query, commands out of sync, lost at some system call."""
_FULL = (1021, 1114)
_FROM_THE_SERVER = range(1000, 2000)


def table_name(table: Table) -> str:
    """Return the name of a table in a SQL store."""
    return f"dbdyno_{table.name}"


def statement(step: Step) -> str:
    """Return the SQL of a step, `%s` for each value: for an update the versioned columns in order, then the key."""
    table, key = step.table, step.table.columns[0].name
    columns = ", ".join(column.name for column in table.columns)
    name, column = table_name(table), table.columns[step.column].name
    match step.operation:
        case "get" | "find":
            return f"SELECT {columns} FROM {name} WHERE {column} = %s"
        case "update":
            changes = ", ".join(f"{column.name} = %s" for column in table.versioned)
            return f"UPDATE {name} SET {changes} WHERE {key} = %s"
    return f"UPDATE {name} SET {column} = {column} + %s WHERE {key} = %s"


def failure_of(error: Exception) -> Failure:
    """Return what an exception of the MySQL protocol means; its arguments are the error's number and its message."""
    number, message = (*error.args, "", "")[:2]
    text = f"{message} (error {number})" if message else f"{type(error).__name__}: {error}"
    if isinstance(error.__cause__ or error.__context__, TimeoutError):
        return Failure("timeout", text)
    if number in _LOST:
        return Failure("connection", text)
    if number in _FULL or (number == 1030 and "28" in str(message)):
        return Failure("full", text)
    if number in _FROM_THE_SERVER or (isinstance(number, int) and number >= 3000):
        return Failure("server", text)
    return Failure("protocol", text)


class DbApiSession(session.Session):
    """A session over a connection of PEP 249 in autocommit mode, with one cursor for its life.

    error: the library's own base exception.
    """

    error: type[Exception]

    def __init__(self, endpoint: session.Endpoint, steps: tuple[Step, ...]) -> None:
        super().__init__(endpoint, steps)
        self._statements = [statement(step) for step in steps]
        try:
            self._connection = self.connect(endpoint)
            self._cursor = self._connection.cursor()
        except (self.error, OSError) as error:
            raise Failure("connect", self.failure(error).message) from None

    @abstractmethod
    def connect(self, endpoint: session.Endpoint) -> Any:
        """Return an open connection in autocommit mode that counts found, not changed, rows."""

    def failure(self, error: Exception) -> Failure:
        """Return what the library's exception means."""
        return failure_of(error)

    def _execute(self, sql: str, values: tuple[Value, ...]) -> Any:
        try:
            self._cursor.execute(sql, values)
        except self.error as error:
            raise self.failure(error) from None
        return self._cursor

    def _read(self, step: int, value: Value) -> Row | None:
        rows = self._execute(self._statements[step], (value,)).fetchall()
        if len(rows) > 1:
            raise Failure("mismatch", f"{len(rows)} rows instead of one")
        return rows[0] if rows else None

    def get(self, step: int, key: int) -> Row | None:
        return self._read(step, key)

    def find(self, step: int, value: Value) -> Row | None:
        return self._read(step, value)

    def update(self, step: int, key: int, version: int) -> bool:
        values = [column.value(key, version) for column in self.steps[step].table.versioned]
        cursor = self._execute(self._statements[step], (*values, key))
        return int(cursor.rowcount) > 0

    def add(self, step: int, key: int, delta: int) -> bool:
        cursor = self._execute(self._statements[step], (delta, key))
        return int(cursor.rowcount) > 0

    def _one(self, sql: str) -> int:
        return int(self._execute(sql, ()).fetchone()[0])

    def count(self, table: Table, rows: int) -> int | None:
        return self._one(f"SELECT COUNT(*) FROM {table_name(table)}")

    def total(self, table: Table, column: str, rows: int) -> int | None:
        return self._one(f"SELECT SUM({column}) FROM {table_name(table)}")

    def close(self) -> None:
        # If it is lost already, that was counted.
        with suppress(self.error, OSError):
            self._connection.close()
