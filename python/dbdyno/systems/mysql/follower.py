"""Replicas of servers of the MySQL protocol beside their primary, and the nodes of a Galera cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbdyno.errors import RunFailed
from dbdyno.later import LaterModule
from dbdyno.systems.follower import Follower, Questions
from dbdyno.systems.mysql.client import connect
from dbdyno.systems.probe import ANSWER_TIMEOUT_S
from dbdyno.systems.running.endpoint import Endpoint

if TYPE_CHECKING:
    import pymysql
else:
    pymysql = LaterModule("pymysql")

_SEQUENCE = "SUBSTRING_INDEX(@@GLOBAL.{}, '-', -1) + 0"
"""The number of the last transaction: a private primary's have one domain and one server."""
_COMMITTED = (
    "SELECT VARIABLE_VALUE + 0{} FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_LAST_COMMITTED'"
)
MARIADB = Questions(
    f"SELECT {_SEQUENCE.format('gtid_binlog_pos')}", f"SELECT {_SEQUENCE.format('gtid_slave_pos')} >= {{}}"
)
MYSQL = Questions("SELECT @@GLOBAL.gtid_executed", "SELECT GTID_SUBSET('{}', @@GLOBAL.gtid_executed)")
GALERA = Questions(_COMMITTED.format(""), _COMMITTED.format(" >= {}"))
"""All nodes of a group number its commits alike."""


class MySQLFollower(Follower):
    """A replica, or a node of a cluster beside its first one."""

    @contextmanager
    def _connect(self, endpoint: Endpoint) -> Iterator[Any]:
        try:
            with connect(endpoint, autocommit=True, read_timeout=ANSWER_TIMEOUT_S) as connection:
                yield connection
        except (pymysql.MySQLError, OSError) as error:
            raise RunFailed(f"the lag of {self.name} is not known: {error}") from None

    def _answer(self, connection: pymysql.Connection, question: str) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(question)
            row = cursor.fetchone()
            return row[0] if row else None
