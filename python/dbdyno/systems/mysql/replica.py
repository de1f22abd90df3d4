"""A replica of a server of the MySQL protocol, as a witness of its primary's crash."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dbdyno.errors import RunFailed
from dbdyno.later import LaterModule
from dbdyno.systems.answers import Answer
from dbdyno.systems.mysql.client import ask, row_versions
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.witness import CATCH_UP_S, Promise, Versions

if TYPE_CHECKING:
    import pymysql
else:
    pymysql = LaterModule("pymysql")

_POLL_S = 0.1
_ALL_APPLIED = "has read all relay log"
"""In a replica's `Slave_SQL_Running_State`, in every version."""

Status = Answer


class Replica:
    """One replica, which follows by GTID. promise: that it agrees with its primary after a crash of that."""

    unable: str | None = None
    outlives = True

    def __init__(self, name: str, replica: Endpoint, primary: Endpoint, promise: Promise, is_mysql: bool) -> None:
        self.name, self.promise = f"replica {name}", promise
        self._primary, self._replica = primary, replica
        self._where, self._wait = (
            ("SELECT @@GLOBAL.gtid_executed AS last", "SELECT NOT GTID_SUBSET('{}', @@GLOBAL.gtid_executed) AS late")
            if is_mysql
            else ("SELECT @@GLOBAL.gtid_binlog_pos AS last", "SELECT MASTER_GTID_WAIT('{}', 1) AS late")
        )

    def alone(self, tables: Mapping[str, int]) -> Versions:
        with self._asking():
            self._until(_has_applied_all)
            return row_versions(self._replica, tables)

    def versions(self, tables: Mapping[str, int]) -> tuple[Versions, str | None]:
        with self._asking():
            last = ask(self._primary, self._where)[0]["last"].replace("\n", "")
            status = self._until(lambda status: self._has_caught_up(status, last))
            errors = filter(None, (status["Last_IO_Error"], status["Last_SQL_Error"]))
            return row_versions(self._replica, tables), "; ".join(errors) or None

    def _has_caught_up(self, status: Status, last: str) -> bool:
        """Return whether it has all that it will ever have: one that was refused the next event has all it received."""
        if "No" in (status["Slave_IO_Running"], status["Slave_SQL_Running"]):
            return _has_applied_all(status)
        is_followed = status["Slave_IO_Running"] == "Yes"
        return bool(is_followed and ask(self._replica, self._wait.format(last))[0]["late"] == 0)

    def _until(self, is_so: Callable[[Status], bool]) -> Status:
        """Poll the replica's state until it is so, and return it."""
        deadline = time.monotonic() + CATCH_UP_S
        while not is_so(status := ask(self._replica, "SHOW SLAVE STATUS")[0]):
            if time.monotonic() > deadline:
                raise RunFailed(f"{self.name} did not catch up within {CATCH_UP_S:.0f} s: {status['Slave_IO_State']}")
            time.sleep(_POLL_S)
        return status

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except (pymysql.MySQLError, OSError) as error:
            raise RunFailed(f"{self.name} does not answer: {error}") from None


def _has_applied_all(status: Status) -> bool:
    """Return whether it has applied all that it had received, or stopped applying."""
    return status["Slave_SQL_Running"] == "No" or _ALL_APPLIED in (status["Slave_SQL_Running_State"] or "")
