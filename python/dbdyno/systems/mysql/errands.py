"""Errands to a server of the MySQL protocol: statements, and its backup tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule
from dbdyno.systems.actions import Action, Actions
from dbdyno.systems.errand import Errand
from dbdyno.systems.mysql.client import connect
from dbdyno.systems.mysql.copier import login_options
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.process import PrivateDirectory

if TYPE_CHECKING:
    import pymysql
else:
    pymysql = LaterModule("pymysql")

ACTIONS: Actions = {
    "backup": Action(("mariadb-backup", "mariabackup"), "mariadb-backup"),
    "dump": Action(("mariadb-dump",), "mariadb-client"),
    "alter": Action(),
}
_LARGEST = """\
SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'
ORDER BY data_length DESC, table_name LIMIT 1"""


@dataclass(frozen=True)
class MySQLStatement:
    """Statements separated by semicolons."""

    endpoint: Endpoint
    sql: str

    def __call__(self) -> Sequence[str]:
        """Execute them, and return the rows of the answers, a line each."""
        from pymysql.constants import CLIENT  # noqa: PLC0415

        lines: list[str] = []
        with (
            connect(
                self.endpoint,
                database=self.endpoint.database or None,
                autocommit=True,
                client_flag=CLIENT.MULTI_STATEMENTS,
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(self.sql)
            lines += _rows(cursor)
            while cursor.nextset():
                lines += _rows(cursor)
        return lines


@dataclass(frozen=True)
class Rebuild:
    """Makes a table anew, as an ALTER does that changes how rows are stored; without a name the largest one."""

    endpoint: Endpoint
    table: str | None = None

    def __call__(self) -> Sequence[str]:
        """Execute it, and return the statement."""
        (table,) = [self.table] if self.table else MySQLStatement(self.endpoint, _LARGEST)()
        statement = f"ALTER TABLE `{table}` FORCE"
        return [*MySQLStatement(self.endpoint, statement)(), statement]


def tool_errand(action: str, program: str, endpoint: Endpoint, directory: PrivateDirectory) -> Errand:
    """Return what makes a backup or a dump of a private server into its directory, by a program with this path."""
    login = directory.write("event.cnf", login_options(endpoint))
    to = directory.folder(f"event-{action}")
    if action == "backup":
        argv = [program, f"--defaults-file={login}", "--backup", f"--target-dir={to}"]
        argv.append(f"--datadir={directory.path / 'data'}")
    else:
        argv = [program, f"--defaults-file={login}", "--single-transaction", f"--result-file={to / 'dump.sql'}"]
        argv.append(endpoint.database)
    return Errand(argv, home=directory.path, as_server=True, leaves=to)


def _rows(cursor: pymysql.cursors.Cursor) -> list[str]:
    return ["\t".join(map(str, row)) for row in cursor.fetchall()]
