"""A private server of the MySQL protocol, copied by mariadb-dump, mariadb-import or mydumper."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule
from dbdyno.systems.copier import COPY_NAME, Call, Copier, Row, Stage, Tool
from dbdyno.systems.mysql.client import connect
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.process import PrivateDirectory

if TYPE_CHECKING:
    import pymysql
else:
    pymysql = LaterModule("pymysql")

_CLIENT = "mariadb-client"
TOOLS: Mapping[str, Tool] = {
    "sql": Tool(("mariadb-dump", "mariadb"), _CLIENT),
    "files": Tool(("mariadb-dump", "mariadb", "mariadb-import"), _CLIENT),
    "mydumper": Tool(("mydumper", "myloader"), "mydumper"),
}
_BYTES_AS_THEY_ARE = "--default-character-set=binary"


class MySQLCopier(Copier):
    """Copies the database of `endpoint`; programs: the path of each that the tool has."""

    @property
    def error(self) -> tuple[type[Exception], ...]:
        return (pymysql.MySQLError, OSError)

    def __init__(
        self, endpoint: Endpoint, directory: PrivateDirectory, tool: str, programs: Mapping[str, str], workers: int
    ) -> None:
        self._endpoint, self._directory, self._tool = endpoint, directory, tool
        self._programs, self._workers = programs, workers
        self.home = directory.path
        # A password is neither an argument nor in the environment, which others may read.
        self._login = directory.write("client.cnf", login_options(endpoint))
        self._connection = self._connect(endpoint.database)

    def _connect(self, database: str) -> pymysql.Connection:
        return connect(
            self._endpoint,
            database=database,
            charset="utf8mb4",
            use_unicode=False,
            init_command="SET NAMES binary",
            autocommit=True,
            conv={},
        )

    def _ask(self, sql: str) -> list[Row]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def _database(self, of_copy: bool) -> str:
        return COPY_NAME if of_copy else self._endpoint.database

    def tables(self, of_copy: bool) -> list[str]:
        return sorted(_text(name) for (name,) in self._ask(f"SHOW TABLES FROM `{self._database(of_copy)}`"))

    def count(self, table: str) -> int:
        ((rows,),) = self._ask(f"SELECT COUNT(*) FROM `{table}`")
        return int(rows or 0)

    def create(self) -> Path:
        self.drop()
        self._ask(f"CREATE DATABASE {COPY_NAME}")
        return self._directory.folder("dump")

    def dump(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        original = self._endpoint.database
        if self._tool == "mydumper":
            to = [f"--database={original}", f"--outputdir={folder}", f"--threads={self._workers}", "--verbose=1"]
            return [Stage([Call(self._call("mydumper", *to))])]
        if self._tool == "files":
            to = ["--single-transaction", _BYTES_AS_THEY_ARE, f"--tab={folder}", original]
            return self._each(Call(self._call("mariadb-dump", *to, table), table) for table in tables)
        argv = self._call("mariadb-dump", "--single-transaction", original)
        return self._each(Call([*argv, table], table, writes=folder / f"{table}.sql") for table in tables)

    def restore(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        if self._tool == "mydumper":
            to = [f"--database={COPY_NAME}", f"--directory={folder}", f"--threads={self._workers}", "--verbose=1"]
            return [Stage([Call(self._call("myloader", *to))])]
        argv = self._call("mariadb", COPY_NAME)
        statements = self._each(Call(argv, table, reads=folder / f"{table}.sql") for table in tables)
        if self._tool == "sql":
            return statements
        files = [str(folder / f"{table}.txt") for table in tables]
        to = [f"--use-threads={self._workers}", _BYTES_AS_THEY_ARE, "--silent", COPY_NAME, *files]
        # The statements make the tables, empty, which is no worker's time worth telling by table.
        made = [Stage([Call(call.argv, reads=call.reads) for call in statements[0].calls], self._workers)]
        return [*made, Stage([Call(self._call("mariadb-import", *to))])]

    def _call(self, program: str, *options: str) -> list[str]:
        return [self._programs[program], f"--defaults-file={self._login}", *options]

    def _each(self, calls: Iterator[Call]) -> list[Stage]:
        return [Stage(list(calls), self._workers)]

    def definition(self, table: str, of_copy: bool) -> list[str]:
        return [_text(self._ask(f"SHOW CREATE TABLE `{self._database(of_copy)}`.`{table}`")[0][1])]

    def rows(self, table: str, of_copy: bool) -> Iterator[Row]:
        # Rows that are not held here must be read on a connection that nobody else uses meanwhile.
        with (
            self._connect(self._database(of_copy)) as connection,
            connection.cursor(pymysql.cursors.SSCursor) as cursor,
        ):
            cursor.execute(f"SELECT * FROM `{table}` ORDER BY id")
            yield from cursor

    def drop(self) -> None:
        self._ask(f"DROP DATABASE IF EXISTS {COPY_NAME}")
        shutil.rmtree(self._directory.path / "dump", ignore_errors=True)

    def close(self) -> None:
        self._connection.close()


def login_options(endpoint: Endpoint) -> str:
    """Return a file of options, for `--defaults-file`, with which a client of MariaDB or MySQL logs in."""
    address = f"socket={endpoint.socket}" if endpoint.socket else f"host={endpoint.host}\nport={endpoint.port}"
    tls = f"ssl\nssl-ca={endpoint.tls.ca}\nssl-verify-server-cert\n" if endpoint.tls else ""
    return f"[client]\n{address}\nuser={endpoint.user}\npassword={endpoint.password or ''}\n{tls}"


def _text(value: bytes | str | None) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
