"""A whole table in a PostgreSQL: COPY, and queries by psycopg."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbdyno.analytics.table import Column, Table
from dbdyno.later import LaterModule
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.attached_analyst import AttachedAnalyst
from dbdyno.systems.postgresql.probe import connect
from dbdyno.systems.running.endpoint import Endpoint

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = LaterModule("psycopg")

_TYPES = {"integer": "INTEGER", "tiny": "SMALLINT", "date": "DATE"}
BLOCK_BYTES = 1 << 20


class _PostgreSQLAnalyst(Analyst):
    """A connection to `endpoint`. It has no integer of one byte: `tiny` takes two."""

    @property
    def error(self) -> tuple[type[Exception], ...]:
        return (psycopg.Error, OSError)

    by = "COPY FROM STDIN, a file each, and VACUUM ANALYZE"

    def __init__(self, endpoint: Endpoint) -> None:
        self._connection = connect(endpoint)

    def _create(self, table: Table) -> None:
        columns = ", ".join(f'"{column.name}" {_type(column)}' for column in table.columns)
        self.ask(f"CREATE TABLE {table.name} ({columns})")

    def load(self, table: Table, paths: Sequence[Path]) -> None:
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        for path in paths:
            with (
                self._connection.cursor() as cursor,
                cursor.copy(
                    f"COPY {table.name} ({names}) FROM STDIN (FORMAT csv, FORCE_NULL ({names}), ENCODING 'LATIN1')"
                ) as copy,
            ):
                for block in _integers(path):
                    copy.write(block)

    def finish(self, table: Table) -> int:
        # Without it the first query writes to every page that its rows are there to stay.
        self.ask(f"VACUUM ANALYZE {table.name}")
        return int(self.ask(f"SELECT pg_table_size('{table.name}')")[0][0])

    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        with self._connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else ()

    def cancel(self) -> None:
        self._connection.cancel()

    def close(self) -> None:
        self._connection.close()


class PostgreSQLAnalyst(_PostgreSQLAnalyst):
    """A connection to a private server."""

    def create(self, table: Table) -> None:
        self._create(table)

    def finish(self, table: Table) -> int:
        size_bytes = super().finish(table)
        self.ask("CHECKPOINT")
        return size_bytes


class AttachedPostgreSQLAnalyst(AttachedAnalyst, _PostgreSQLAnalyst):
    """A connection to somebody else's server, whose checkpoints are its own affair."""

    def create_marked(self, table: Table, marker: str) -> None:
        with self._connection.transaction():
            self._create(table)
            comment = psycopg.sql.SQL("COMMENT ON TABLE {} IS {}")
            self._connection.execute(comment.format(psycopg.sql.Identifier(table.name), psycopg.sql.Literal(marker)))

    def comment(self, table: Table) -> str | None:
        ((is_there, comment),) = self._connection.cursor(row_factory=psycopg.rows.tuple_row).execute(
            "SELECT to_regclass(%(name)s) IS NOT NULL, obj_description(to_regclass(%(name)s), 'pg_class')",
            {"name": table.name},
        )
        return (comment or "") if is_there else None


def _integers(path: Path) -> Iterator[bytes]:
    """Yield a file's lines without the header, the last comma, and the decimals of whole numbers.

    COPY takes `-4.00` for no integer. A text that holds `.00,` would lose that: none of the files does.
    """
    with path.open("rb") as file:
        file.readline()
        while lines := file.readlines(BLOCK_BYTES):
            yield b"".join(lines).replace(b".00,", b",").replace(b",\n", b"\n")


def _type(column: Column) -> str:
    text = "CHAR" if column.kind == "char" else "VARCHAR"
    return _TYPES.get(column.kind) or f"{text}({column.length})"
