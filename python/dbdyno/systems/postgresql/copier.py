"""A private PostgreSQL server, copied by pg_dump, psql and pg_restore."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule
from dbdyno.systems.answers import Answer
from dbdyno.systems.copier import COPY_NAME, Call, Copier, Row, Stage, Tool
from dbdyno.systems.postgresql.probe import connect
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.process import PrivateDirectory

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = LaterModule("psycopg")

_CLIENT = "postgresql-client"
TOOLS: Mapping[str, Tool] = {
    "sql": Tool(("pg_dump", "psql"), _CLIENT),
    "files": Tool(("pg_dump", "pg_restore"), _CLIENT),
}
# From version 18 on NOT NULL is a constraint too, and it is said of the column.
_DEFINITION = """\
SELECT format('%%s %%s %%s %%s', attname, format_type(atttypid, atttypmod), attnotnull,
              pg_get_expr(adbin, adrelid)) AS words
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
 WHERE attrelid = %(table)s::regclass AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %(table)s::regclass AND contype <> 'n'
UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %(table)s::regclass AND indisvalid
ORDER BY 1"""


class PostgreSQLCopier(Copier):
    """Copies the database of `endpoint`; programs: the path of each that the tool has."""

    @property
    def error(self) -> tuple[type[Exception], ...]:
        return (psycopg.Error, OSError)

    def __init__(
        self, endpoint: Endpoint, directory: PrivateDirectory, tool: str, programs: Mapping[str, str], workers: int
    ) -> None:
        self._endpoint, self._directory, self._tool = endpoint, directory, tool
        self._programs, self._workers = programs, workers
        self.home = directory.path
        # A password is neither an argument nor in the environment, which others may read.
        self._login = directory.write("pgpass", f"*:*:*:*:{endpoint.password or ''}\n")
        self._connection = self._connect(endpoint.database)

    def _database(self, of_copy: bool) -> str:
        return COPY_NAME if of_copy else self._endpoint.database

    def _connect(self, database: str) -> psycopg.Connection[Answer]:
        # A table is looked for in the schema that is dumped, whatever the server's own search path is.
        return connect(replace(self._endpoint, database=database), "-c search_path=public")

    def _address(self, database: str) -> str:
        endpoint = self._endpoint
        host = Path(endpoint.socket).parent if endpoint.socket else endpoint.host
        tls = endpoint.tls.libpq() if endpoint.tls else {}
        address = {"host": host, "port": endpoint.port, "user": endpoint.user, "dbname": database}
        return " ".join(f"{key}={value}" for key, value in (address | tls).items())

    def _to(self, database: str) -> str:
        """Return the option that has a program connect to a database; the password it reads itself."""
        return f"--dbname={self._address(database)} passfile={self._login}"

    def tables(self, of_copy: bool) -> list[str]:
        sql = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
        with self._connect(self._database(of_copy)) as connection:
            return [row["tablename"] for row in connection.execute(sql)]

    def count(self, table: str) -> int:
        (row,) = self._connection.execute(f'SELECT COUNT(*) AS rows FROM "{table}"').fetchall()
        return int(row["rows"])

    def create(self) -> Path:
        self.drop()
        self._connection.execute(f"CREATE DATABASE {COPY_NAME} TEMPLATE template0")
        return self._directory.folder("dump")

    def dump(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        argv = [self._programs["pg_dump"], self._to(self._endpoint.database)]
        if self._tool == "files":
            # Uncompressed, as what the other tools write is.
            to = ["--format=directory", "--compress=0", f"--jobs={self._workers}", f"--file={folder / 'all'}"]
            return [Stage([Call([*argv, *to])])]
        calls = [Call([*argv, f"--table=public.{table}"], table, writes=folder / f"{table}.sql") for table in tables]
        return [Stage(calls, self._workers)]

    def restore(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        if self._tool == "files":
            to = ["--exit-on-error", f"--jobs={self._workers}", str(folder / "all")]
            return [Stage([Call([self._programs["pg_restore"], self._to(COPY_NAME), *to])])]
        argv = [self._programs["psql"], self._to(COPY_NAME), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]
        return [Stage([Call(argv, table, reads=folder / f"{table}.sql") for table in tables], self._workers)]

    def definition(self, table: str, of_copy: bool) -> list[str]:
        with self._connect(self._database(of_copy)) as connection:
            rows = connection.execute(_DEFINITION, {"table": f'"{table}"'}).fetchall()
        return [row["words"] for row in rows]

    def rows(self, table: str, of_copy: bool) -> Iterator[Row]:
        sql = f'COPY (SELECT * FROM "{table}" ORDER BY id) TO STDOUT'
        with self._connect(self._database(of_copy)) as connection, connection.cursor().copy(sql) as lines:
            for line in lines:
                # In this format a tab in a value is escaped, and NULL is a word that no value can be.
                yield tuple(bytes(line).rstrip(b"\n").split(b"\t"))

    def drop(self) -> None:
        self._connection.execute(f"DROP DATABASE IF EXISTS {COPY_NAME} WITH (FORCE)")
        shutil.rmtree(self._directory.path / "dump", ignore_errors=True)

    def close(self) -> None:
        self._connection.close()
