"""PgBouncer, a pool of connections that stands between clients and a PostgreSQL: `via(pgbouncer, postgresql)`."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.later import LaterModule
from dbdyno.systems.answers import Answer
from dbdyno.systems.base import Launch, numbers_of
from dbdyno.systems.running.endpoint import CONNECT_TIMEOUT_S, Endpoint
from dbdyno.systems.running.password import random_password
from dbdyno.systems.running.pooler import SPARE_CONNECTIONS, Pooler
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess, find_program
from dbdyno.systems.settings import PRIVATE, check

if TYPE_CHECKING:
    import psycopg

    from dbdyno.results.json_types import ServerStated
else:
    psycopg = LaterModule("psycopg")

MODES = ("session", "transaction")
"""Values of `pool_mode`, the default first; in the third one, `statement`, there are no transactions."""
KEEPS_STATEMENTS = (1, 21)
"""The first version whose pools of transactions keep prepared statements."""
SETTINGS = (
    *("pool_mode", "default_pool_size", "min_pool_size", "reserve_pool_size", "max_client_conn"),
    *("max_prepared_statements", "server_lifetime", "server_idle_timeout", "server_reset_query", "so_reuseport"),
)
"""Settings that decide what a benchmark measures."""
COUNTERS = (
    *("total_xact_count", "total_query_count", "total_received", "total_sent"),
    *("total_xact_time", "total_query_time", "total_wait_time"),
)
RESERVED = frozenset(
    (
        *("listen_addr", "listen_port", "unix_socket_dir", "auth_type", "auth_file", "auth_hba_file", "auth_query"),
        *("auth_user", "auth_dbname", "admin_users", "stats_users", "logfile", "pidfile", "conffile", "databases"),
    )
)
"""Settings that say where the pooler is and who gets in."""
_CONSOLE = "pgbouncer"
"""The database that is PgBouncer's own console."""
_VERSION = re.compile(r"PgBouncer (\d+\.\d+\S*)")
_OURS = """\
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = {address}
listen_port = {own_port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
stats_users = {user}
ignore_startup_parameters = extra_float_digits,options
"""


class PgBouncer(Pooler):
    """A private pooler. Settings: any of its section `[pgbouncer]`, such as `pool_mode` and `default_pool_size`."""

    name = "pgbouncer"
    product = "PgBouncer"
    what = "put it in front of a server, via(pgbouncer, postgresql)"
    protocol: ClassVar[str] = "PostgreSQL"
    driver_modules = ("psycopg",)
    reserved = PRIVATE | RESERVED

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.check_choice("pool_mode", MODES)
        self.check_names()

    @classmethod
    def missing(cls) -> str | None:
        return None if find_program("pgbouncer") else "pgbouncer is not installed: apt install pgbouncer"

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        return (psycopg.Error, OSError)

    def serve(self, behind: Endpoint, launch: Launch) -> None:
        self._check_mode()
        self._directory = directory = PrivateDirectory(launch)
        port = self.new_port(launch.address)
        user, password = behind.user or "postgres", behind.password or random_password()
        users = directory.write("users.txt", f'"{user}" "{password}"\n')
        known = {"host": behind.host, "port": behind.port, "address": launch.address, "own_port": port}
        size = launch.clients + SPARE_CONNECTIONS
        settings = {"max_client_conn": str(size), "default_pool_size": str(size), **self.server_settings}
        lines = "".join(f"{key} = {value}\n" for key, value in settings.items())
        config = directory.write("pgbouncer.ini", _OURS.format(**known, users=users, user=user) + lines)
        argv = [*self.program("pgbouncer"), str(config)]
        self._run = lambda: ServerProcess(self.server_name, argv, directory, launch)
        self._server = self._run()
        self.endpoint = Endpoint(launch.address, port, None, user, password, behind.database)
        self.console = replace(self.endpoint, database=_CONSOLE)
        self._server.wait_ready(self._answers)
        check(self.spec.label, self.server_settings, self._config())

    def _check_mode(self) -> None:
        """Raise UserError if its pool would lose the prepared statements of clients."""
        if self.spec.settings.get("pool_mode", MODES[0]) == MODES[0]:
            return
        version = self._version()
        if tuple(map(int, version.split(".")[:2])) < KEEPS_STATEMENTS:
            raise UserError(
                f"{self.spec.label}: PgBouncer {version} keeps no prepared statements with pool_mode=transaction: "
                f"install {'.'.join(map(str, KEEPS_STATEMENTS))}, or give pool_mode=session"
            )

    def _version(self) -> str:
        """Return the version that the program says it is."""
        said = subprocess.run([*self.program("pgbouncer"), "--version"], capture_output=True, text=True, check=False)
        return self._version_in(said.stdout + said.stderr)

    def _version_in(self, said: str) -> str:
        known = _VERSION.search(said)
        if known is None:
            raise RunFailed(f"{self.spec.label}: pgbouncer does not say its version: {said}")
        return known[1]

    def _show(self, what: str) -> list[Answer]:
        """Return the rows of a command of the console, which knows no prepared statements."""
        with psycopg.connect(
            host=self.console.host,
            port=self.console.port,
            user=self.console.user,
            password=self.console.password,
            dbname=self.console.database,
            connect_timeout=CONNECT_TIMEOUT_S,
            sslmode="disable",
            gssencmode="disable",
            autocommit=True,
            cursor_factory=psycopg.ClientCursor,
            row_factory=psycopg.rows.dict_row,
        ) as connection:
            return connection.execute(f"SHOW {what}").fetchall()

    def _config(self) -> dict[str, str]:
        with self.asking():
            return {row["key"]: row["value"] or "" for row in self._show("CONFIG")}

    def servers(self) -> list[ServerStated]:
        there = self._config()
        names = dict.fromkeys([*SETTINGS, *self.server_settings])
        effective = {key: there[key] for key in names if key in there}
        with self.asking():
            (row,) = self._show("VERSION")
        version = self._version_in(str(row["version"]))
        return [{"name": self.server_name, "version": version, "effective_settings": effective}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        return {self.server_name: self._config()}

    def counters(self) -> dict[str, dict[str, int]]:
        with self.asking():
            rows = [row for row in self._show("STATS") if row["database"] == self.endpoint.database]
        return {self.server_name: numbers_of(rows[0] if rows else {}, COUNTERS)}
