"""HandlerSocket: a private MariaDB with the plugin that reads and writes its rows past the SQL layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import OPERATIONS, PUT, READ_ONLY, SUM_RANGE, TRANSACTION
from dbdyno.systems.base import Launch
from dbdyno.systems.mysql.mariadb import PLUGIN_FOLDERS, MariaDB
from dbdyno.systems.running.password import random_password
from dbdyno.systems.running.ports import free_port
from dbdyno.systems.running.process import PrivateDirectory

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument

PLUGIN = "handlersocket.so"
READ_PORT, WRITE_PORT = "handlersocket_port", "handlersocket_port_wr"


class HandlerSocket(MariaDB):
    """MariaDB with its plugin `handlersocket`. Settings as MariaDB's, the plugin's own among them.

    Tables are made, loaded and counted by SQL; clients use the plugin's two ports alone.
    """

    name = "handlersocket"
    what = "MariaDB's rows without its SQL layer (handlersocket_threads=…, any server variable)"
    operations = frozenset(OPERATIONS) - {TRANSACTION, READ_ONLY, PUT, SUM_RANGE}
    reasons: ClassVar[dict[str, str]] = {PUT: "a request of its protocol either inserts a row or changes one"}
    libraries: ClassVar[tuple[str, ...]] = ()
    pipelines = True
    serves_hosts = False
    own_settings: ClassVar[tuple[str, ...]] = ("engine",)

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        if "connect" in spec.settings:
            raise UserError(f"{spec.label}: HandlerSocket is reached over TCP alone: leave 'connect' out")

    @classmethod
    def missing(cls) -> str | None:
        if super().missing() is None and any((Path(folder) / PLUGIN).exists() for folder in PLUGIN_FOLDERS):
            return None
        return f"mariadbd with its plugin {PLUGIN} is not installed: apt install mariadb-server"

    def start(self, launch: Launch) -> None:
        self._password = random_password()
        self._ports = {READ_PORT: free_port(), WRITE_PORT: free_port()}
        super().start(launch)

    def defaults(self, directory: PrivateDirectory) -> str:
        """Return the option that names the only file of options to read: a secret on the command line is no secret."""
        options = {
            "plugin-load-add": "handlersocket",
            "plugin-maturity": "unknown",
            "loose_handlersocket_address": "127.0.0.1",
            "loose_handlersocket_plain_secret": self._password,
            "loose_handlersocket_plain_secret_wr": self._password,
            **{f"loose_{key}": port for key, port in self._ports.items()},
        }
        lines = ["[mysqld]", *(f"{key}={value}" for key, value in options.items())]
        return f"--defaults-file={directory.write('my.cnf', chr(10).join(lines))}"

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        sql = super().store_plan(secrets)
        secrets.append(self._password)
        host = {"host": "127.0.0.1"}
        return {
            "kind": "handlersocket",
            "address": {**host, "port": self._ports[READ_PORT]},
            "write_address": {**host, "port": self._ports[WRITE_PORT]},
            "password": {"secret": len(secrets) - 1},
            "database": self.endpoint.database,
            "sql": sql,
        }
