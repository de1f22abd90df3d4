"""Settings of InnoDB that a running server of the MySQL protocol takes (`confirm_limit`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbdyno.errors import UserError
from dbdyno.later import LaterModule
from dbdyno.systems.live_settings import NOT_DURABLE, LiveSetting
from dbdyno.systems.running.server import Server

if TYPE_CHECKING:
    import pymysql
else:
    pymysql = LaterModule("pymysql")

OF_MARIADB: Mapping[str, LiveSetting] = {
    # A running server takes none smaller than innodb_log_buffer_size, of 16 MiB unless it is given.
    "checkpoint": LiveSetting("innodb_log_file_size", least=16 << 20),
    "disk": LiveSetting("innodb_buffer_pool_size"),
    "commit": LiveSetting("innodb_flush_log_at_trx_commit", "2", NOT_DURABLE),
}


class LiveServer(Server):
    """A server whose global variables can be read and set.

    engine: of dbdyno's tables; None for the server's default.
    """

    engine: str | None

    def _query(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        raise NotImplementedError

    def live_setting(self, limit: str) -> LiveSetting | None:
        # They are all InnoDB's.
        return super().live_setting(limit) if (self.engine or "innodb").lower() == "innodb" else None

    def setting(self, name: str) -> str:
        with self.asking():
            return str(self._query(f"SELECT @@GLOBAL.{name}")[0][0])

    def change_setting(self, name: str, value: str) -> None:
        try:
            self._query(f"SET GLOBAL {name} = {value}")
        except pymysql.MySQLError as error:
            raise UserError(f"{self.server_name} does not take {name}={value} while it runs: {error}") from None
