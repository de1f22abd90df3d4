"""Errands to a server of the PostgreSQL protocol: statements, and its backup tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule
from dbdyno.systems.actions import Action, Actions
from dbdyno.systems.answers import Answer
from dbdyno.systems.errand import Errand
from dbdyno.systems.postgresql.probe import connect
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.process import PrivateDirectory

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = LaterModule("psycopg")

_CLIENT = "postgresql-client"
ACTIONS: Actions = {
    "backup": Action(("pg_basebackup",), _CLIENT),
    "dump": Action(("pg_dump",), _CLIENT),
    "alter": Action(),
    "vacuum-full": Action(),
}
_LARGEST = """\
SELECT quote_ident(relname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind = 'r' AND nspname = 'public' ORDER BY pg_table_size(pg_class.oid) DESC, relname LIMIT 1"""
# A default that differs from row to row has the whole table written anew; without the column it is as it was.
_REBUILD = (
    "BEGIN",
    "ALTER TABLE {table} ADD COLUMN dbdyno_event double precision DEFAULT random()",
    "ALTER TABLE {table} DROP COLUMN dbdyno_event",
    "COMMIT",
)


@dataclass(frozen=True)
class PostgreSQLStatement:
    """Statements separated by semicolons; several are one transaction."""

    endpoint: Endpoint
    sql: str

    def __call__(self) -> Sequence[str]:
        """Execute them, and return the rows of the answers, a line each."""
        lines: list[str] = []
        with connect(self.endpoint) as connection:
            cursor = connection.execute(self.sql)
            lines += _rows(cursor)
            while cursor.nextset():
                lines += _rows(cursor)
        return lines


@dataclass(frozen=True)
class OnTable:
    """Statements with the name of a table; without one with that of the largest."""

    endpoint: Endpoint
    statements: Sequence[str]
    table: str | None = None

    def __call__(self) -> Sequence[str]:
        """Execute them, and return them."""
        with connect(self.endpoint) as connection:
            table = f'"{self.table}"' if self.table else _largest(connection)
            said = [statement.format(table=table) for statement in self.statements]
            for statement in said:
                connection.execute(statement)
        return said


def _largest(connection: psycopg.Connection[Answer]) -> str:
    row = connection.execute(_LARGEST).fetchone()
    if row is None:
        raise ValueError("there is no table")
    return str(row["name"])


def on_table(action: str, endpoint: Endpoint, table: str | None = None) -> OnTable:
    """Return the statements of an action that needs no program; without a table they are about the largest."""
    return OnTable(endpoint, _REBUILD if action == "alter" else ("VACUUM (FULL) {table}",), table)


def tool_errand(action: str, program: str, endpoint: Endpoint, directory: PrivateDirectory) -> Errand:
    """Return what makes a backup or a dump of a private server into its directory, by a program with this path."""
    login = directory.write("event.pgpass", f"*:*:*:*:{endpoint.password or ''}\n")
    to = directory.folder(f"event-{action}")
    host = str(Path(endpoint.socket).parent) if endpoint.socket else endpoint.host
    address = f"host={host} port={endpoint.port} user={endpoint.user} passfile={login}"
    if endpoint.tls:
        address += "".join(f" {key}={value}" for key, value in endpoint.tls.libpq().items())
    if action == "backup":
        argv = [program, f"--dbname={address}", f"--pgdata={to}", "--checkpoint=fast", "--no-sync"]
    else:
        argv = [program, f"--dbname={address} dbname={endpoint.database}", f"--file={to / 'dump.sql'}"]
    return Errand(argv, home=directory.path, as_server=True, leaves=to)


def _rows(cursor: psycopg.Cursor[Answer]) -> list[str]:
    if cursor.description is None:
        return []
    return ["\t".join(map(str, row.values())) for row in cursor.fetchall()]
