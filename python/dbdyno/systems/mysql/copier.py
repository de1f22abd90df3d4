"""A private server of the MySQL protocol, copied by mariadb-dump, mariadb-import or mydumper."""

from __future__ import annotations

import re
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
_COLUMNS = """\
SELECT column_name, column_type, is_nullable, column_default, collation_name, extra FROM information_schema.columns
 WHERE table_schema = '{database}' AND table_name = '{table}' ORDER BY ordinal_position"""
_INDEXES = """\
SELECT index_name, non_unique, column_name, sub_part FROM information_schema.statistics
 WHERE table_schema = '{database}' AND table_name = '{table}' ORDER BY index_name, seq_in_index"""
_ENGINE = "SELECT engine FROM information_schema.tables WHERE table_schema = '{database}' AND table_name = '{table}'"
_QUOTE = "'"
_DISPLAY_WIDTH = re.compile(r"int\(\d+\)")
"""How many digits a client may show: newer versions do not have it any more."""
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

    def portable_definition(self, table: str, of_copy: bool) -> list[str]:
        where = {"database": self._database(of_copy), "table": table}
        engine, columns, indexes = (self._ask(sql.format(**where)) for sql in (_ENGINE, _COLUMNS, _INDEXES))
        return [
            *(f"engine {_text(name)}" for (name,) in engine),
            *(f"column {number} {_column(column)}" for number, column in enumerate(columns, 1)),
            *(f"index {' '.join(_text(part) for part in index if part is not None)}" for index in indexes),
        ]

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


def _column(column: Row) -> str:
    """Return a column in words of all versions, which write types, defaults and collations each in another way."""
    name, kind, nullable, default, collation, extra = ("" if value is None else _text(value) for value in column)
    has_default = column[3] is not None and default != "NULL"
    said = [
        name,
        _DISPLAY_WIDTH.sub("int", kind),
        "null" if nullable == "YES" else "not null",
        f"default '{default.strip(_QUOTE)}'" if has_default else "",
        re.sub(r"^utf8_", "utf8mb3_", collation),
        "auto_increment" if "auto_increment" in extra.lower() else "",
    ]
    return " ".join(filter(None, said))


def login_options(endpoint: Endpoint) -> str:
    """Return a file of options, for `--defaults-file`, with which a client of MariaDB or MySQL logs in."""
    address = f"socket={endpoint.socket}" if endpoint.socket else f"host={endpoint.host}\nport={endpoint.port}"
    tls = f"ssl\nssl-ca={endpoint.tls.ca}\nssl-verify-server-cert\n" if endpoint.tls else ""
    return f"[client]\n{address}\nuser={endpoint.user}\npassword={endpoint.password or ''}\n{tls}"


def _text(value: bytes | str | None) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
