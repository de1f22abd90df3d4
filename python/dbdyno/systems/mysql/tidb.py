"""TiDB, one server over the store that is built into it, started privately."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import OPERATIONS, SYSBENCH
from dbdyno.later import LaterModule
from dbdyno.systems.actions import Actions
from dbdyno.systems.base import Durability, Launch, numbers_of
from dbdyno.systems.builds.build import Build
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.mysql.mariadb import MariaDB
from dbdyno.systems.mysql.tidb_probe import METRICS, TiDBProbe, metrics_of
from dbdyno.systems.mysql.tidb_settings import ACTIVE, VARIABLES, refuse_what_it_lacks
from dbdyno.systems.packages.cache import Installation, installed
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.ports import free_port
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess
from dbdyno.systems.settings import check

if TYPE_CHECKING:
    import pymysql

    from dbdyno.results.json_types import ServerStated
else:
    pymysql = LaterModule("pymysql")

_PACKAGE = PACKAGES["tidb@8.4"]
# START TRANSACTION READ ONLY is refused otherwise. With it, it is a START TRANSACTION: a read has its snapshot anyway.
_READ_ONLY_IS_TAKEN = "tidb_enable_noop_functions=ON"
# Run once, when the data directory is made and before anybody is let in: there never is a root without password.
_NEW_USER = f"""\
SET GLOBAL {_READ_ONLY_IS_TAKEN};
CREATE DATABASE dbdyno;
CREATE USER 'dbdyno'@'%' IDENTIFIED BY '{{password}}';
GRANT ALL PRIVILEGES ON *.* TO 'dbdyno'@'%' WITH GRANT OPTION;
DROP USER 'root'@'%';
"""


class TiDBProcess(ServerProcess):
    """Its process, killed when it is to end soon: all that it would write down first goes away with its directory."""

    stop_signal = signal.SIGKILL


class TiDB(MariaDB):
    """A private TiDB. Settings: `connect`, `protocol`, and any system variable, by SET GLOBAL."""

    name = "tidb"
    what = "TiDB by itself, over its built-in store (unistore), any system variable"
    operations = frozenset({*OPERATIONS, SYSBENCH})
    own_settings: ClassVar[tuple[str, ...]] = ("connect", "protocol")
    package = _PACKAGE.name
    actions: ClassVar[Actions] = {}
    layout = Layout("binary", beside("tidb"), re.compile(r"Release Version: v?(?P<version>\S+)"), ("-V",))
    # Its user is made once, with the data, and nothing lets another password in later.
    can_keep = False
    serves_hosts = False
    room: ClassVar = {}
    shown_variables = VARIABLES
    variables_query = ACTIVE

    def __init__(self, spec: SystemSpec) -> None:
        refuse_what_it_lacks(spec)
        super().__init__(spec)

    @classmethod
    def missing(cls) -> str | None:
        if installed(_PACKAGE):
            return None
        return "tidb is not installed: dbdyno systems install tidb (built by go, 10 min)"

    def installation(self) -> Build | Installation | None:
        return self.build or installed(_PACKAGE)

    def start(self, launch: Launch) -> None:
        self._directory = directory = PrivateDirectory(launch)
        socket, password = directory.socket_path(), self.new_password()
        port, self._status_port = self.new_port(), free_port()
        argv = [
            *self.program("tidb"),
            *("-store=unistore", f"-path={directory.path / 'data'}", f"-temp-dir={directory.path / 'tmp'}"),
            *("-host=127.0.0.1", f"-P={port}", f"-socket={socket}"),
            *("-status-host=127.0.0.1", f"-status={self._status_port}"),
            f"-initialize-sql-file={directory.write('init.sql', _NEW_USER.format(password=password))}",
        ]
        self._run = lambda: TiDBProcess(self.server_name, argv, directory, launch)
        self._server = self._run()
        socket_path = str(socket) if self.on_socket else None
        self.endpoint = Endpoint("127.0.0.1", port, socket_path, "dbdyno", password, "dbdyno")
        self._server.wait_ready(self._answers)
        self._set_variables()

    def _set_variables(self) -> None:
        """Set what was given; raises UserError for what TiDB does not take, takes as another value, or ignores.

        It takes many of MySQL's variables only so that programs which set them go on.
        """
        given = self.server_settings
        there = self._variables()
        for key, value in given.items():
            if key not in there:
                raise UserError(f"{self.spec.label}: TiDB ignores the system variable '{key}': leave it out")
            try:
                self._query(f"SET GLOBAL `{key}` = '{pymysql.converters.escape_string(value)}'")
            except pymysql.MySQLError as error:
                raise UserError(f"{self.spec.label}: {key}={value} was refused: {error.args[-1]}") from None
        check(self.spec.label, given, self._variables())

    def started_with(self) -> dict[str, list[str]]:
        status = f"-status={self._status_port}"
        settings = super().started_with()
        return {
            name: [*("-status=PORT" if setting == status else setting for setting in given), _READ_ONLY_IS_TAKEN]
            for name, given in settings.items()
        }

    def servers(self) -> list[ServerStated]:
        (server,) = super().servers()
        server["effective_settings"]["store"] = "unistore"
        return [server]

    def durability(self) -> Durability:
        return Durability("D0", "unistore writes its log at each commit and flushes none of it")

    def counters(self) -> dict[str, dict[str, int]]:
        return {self.server_name: numbers_of(metrics_of(self.server_name, self._status_port), tuple(METRICS))}

    def probes(self) -> list[Probe]:
        return [TiDBProbe(self.server_name, self._status_port)]
