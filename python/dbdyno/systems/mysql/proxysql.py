"""ProxySQL, a pool of connections that stands between clients and a server: `via(proxysql, mariadb)`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError, did_you_mean
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.later import LaterModule
from dbdyno.systems.answers import Answer
from dbdyno.systems.base import Launch, numbers_of
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.mysql.client import ask
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.pooler import SPARE_CONNECTIONS, Pooler
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess, find_program
from dbdyno.systems.settings import PRIVATE, check, without_secrets

if TYPE_CHECKING:
    import pymysql

    from dbdyno.results.json_types import ServerStated
else:
    pymysql = LaterModule("pymysql")

SETTINGS = (
    *("threads", "multiplexing", "max_connections", "free_connections_pct", "connection_max_age_ms"),
    *("max_stmts_per_connection", "query_digests", "commands_stats", "poll_timeout", "server_version"),
)
"""Settings that decide what a benchmark measures."""
COUNTERS = (
    *("Questions", "Slow_queries", "Client_Connections_created", "Client_Connections_aborted"),
    *("Server_Connections_created", "Server_Connections_aborted", "Server_Connections_delayed"),
    *("ConnPool_get_conn_immediate", "ConnPool_get_conn_success", "ConnPool_get_conn_failure"),
    *("Com_frontend_stmt_prepare", "Com_frontend_stmt_execute", "Com_backend_stmt_prepare", "Com_backend_stmt_execute"),
    *("Queries_frontends_bytes_sent", "Queries_frontends_bytes_recv"),
    *("Queries_backends_bytes_sent", "Queries_backends_bytes_recv"),
    *("Backend_query_time_nsec", "Query_Processor_time_nsec"),
)
RESERVED = frozenset(
    (
        *("interfaces", "default_schema", "monitor_enabled", "monitor_username", "monitor_password"),
        *("have_ssl", "eventslog_filename", "auditlog_filename"),
    )
)
"""Settings that say where the pooler is and who gets in."""
_OURS = """\
datadir="{directory}"
admin_variables=
{{
  admin_credentials="{admin}:{password}"
  mysql_ifaces="{address}:{admin_port}"
}}
mysql_variables=
{{
  interfaces="{address}:{own_port}"
  default_schema="{database}"
  monitor_enabled=false
{variables}}}
mysql_servers=
(
  {{ address="{host}" port={port} hostgroup=0 max_connections={connections} }}
)
mysql_users=
(
  {{ username="{user}" password="{password}" default_hostgroup=0 default_schema="{database}" max_connections={most} }}
)
"""
_ADMIN = "dbdyno_console"
"""Its console lets in no user that its clients have."""
_PREFIX = "mysql-"
"""Its console has it before the name of each variable."""


class ProxySQL(Pooler):
    """A private ProxySQL. Settings: any of its variables `mysql-…`, without that prefix, such as `threads`.

    pool_size: the most connections that it has with the server.
    """

    name = "proxysql"
    product = "ProxySQL"
    what = "put it in front of a server, via(proxysql, mariadb)"
    protocol: ClassVar[str] = "MySQL"
    own_settings: ClassVar[tuple[str, ...]] = ("pool_size",)
    driver_modules = ("pymysql",)
    reserved = PRIVATE | RESERVED
    layout = Layout("binary", beside("proxysql"), re.compile(r"ProxySQL version v?(?P<version>\d[^\s,]*)"))

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.check_names()
        for key, value in self.server_settings.items():
            if set('"\\') & set(value):
                raise UserError(f"{spec.label}: {key} = {value!r}: ProxySQL reads no such value")
        if not re.fullmatch(r"[1-9]\d{0,5}", size := spec.settings.get("pool_size", "1")):
            raise UserError(f"{spec.label}: pool_size = '{size}': give a number of connections")

    @classmethod
    def missing(cls) -> str | None:
        return None if find_program("proxysql") else "proxysql is not installed: give its path, proxysql?binary=…"

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        return (pymysql.MySQLError, OSError)

    def serve(self, behind: Endpoint, launch: Launch) -> None:
        self._directory = directory = PrivateDirectory(launch)
        port, admin_port = self.new_port(launch.address), self.new_port(launch.address)
        most = launch.clients + SPARE_CONNECTIONS
        settings = {"max_connections": str(most), **self.server_settings}
        config = directory.write(
            "proxysql.cnf",
            _OURS.format(
                directory=directory.path,
                address=launch.address,
                own_port=port,
                admin_port=admin_port,
                host=behind.host,
                port=behind.port,
                user=behind.user,
                admin=_ADMIN,
                password=behind.password,
                database=behind.database,
                connections=self.spec.settings.get("pool_size", most),
                most=most,
                variables="".join(f"  {key}={_written(value)}\n" for key, value in settings.items()),
            ),
        )
        argv = [
            *self.program("proxysql"),
            *("--foreground", "--exit-on-error", "--initial", "--no-monitor", "--no-version-check"),
            *("--config", str(config), "--datadir", str(directory.path)),
        ]
        self._run = lambda: ServerProcess(self.server_name, argv, directory, launch)
        self._server = self._run()
        self.endpoint = replace(behind, host=launch.address, port=port)
        self.console = replace(self.endpoint, port=admin_port, user=_ADMIN, database="")
        self._server.wait_ready(self._answers)
        self._check_settings()

    def _check_settings(self) -> None:
        """Raise UserError for a setting that it does not know, which it passes over, or has with another value."""
        there = self._variables()
        for key in self.server_settings:
            if key not in there:
                raise UserError(f"{self.spec.label}: no setting '{key}'{did_you_mean(key, there)}")
        check(self.spec.label, self.server_settings, there)

    def _answers(self) -> bool:
        try:
            ask(self.console, "SELECT 1")
        except self.driver_errors:
            return False
        return self.listens()

    def _rows(self, statement: str) -> list[Answer]:
        with self.asking():
            return ask(self.console, statement)

    def _variables(self) -> dict[str, str]:
        rows = self._rows("SELECT variable_name, variable_value FROM runtime_global_variables")
        known = {row["variable_name"]: row["variable_value"] or "" for row in rows}
        return {key.removeprefix(_PREFIX): value for key, value in known.items() if key.startswith(_PREFIX)}

    def servers(self) -> list[ServerStated]:
        there = self._variables()
        names = dict.fromkeys([*SETTINGS, *self.server_settings])
        effective = {key: there[key] for key in names if key in there}
        (row,) = self._rows("SELECT max_connections AS pool_size FROM runtime_mysql_servers")
        return [{"name": self.server_name, "version": self._version(), "effective_settings": effective | row}]

    def _version(self) -> str:
        (row,) = self._rows(
            "SELECT variable_value AS version FROM global_variables WHERE variable_name='admin-version'"
        )
        return str(row["version"])

    def all_settings(self) -> dict[str, dict[str, str]]:
        return {self.server_name: without_secrets(self._variables())}

    def counters(self) -> dict[str, dict[str, int]]:
        rows = self._rows("SELECT Variable_Name, Variable_Value FROM stats_mysql_global")
        counted = {row["Variable_Name"]: row["Variable_Value"] for row in rows}
        return {self.server_name: numbers_of(counted, COUNTERS)}


def _written(value: str) -> str:
    """Return a value as its file of settings has it: numbers and truths as they are, texts in quotes."""
    return value if re.fullmatch(r"\d{1,9}|true|false", value) else f'"{value}"'
