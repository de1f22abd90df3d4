"""ClickHouse as a server, started privately with any setting of its queries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.workloads import ANALYSE
from dbdyno.later import LaterModule
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.analytic.clickhouse_analyst import ClickHouseAnalyst, ClickHouseError
from dbdyno.systems.base import Durability, Launch
from dbdyno.systems.builds.config import elements
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.password import random_password
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess, find_program
from dbdyno.systems.running.server import Server
from dbdyno.systems.settings import PRIVATE, without_secrets

if TYPE_CHECKING:
    import html

    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import ServerStated
else:
    html = LaterModule("html")

_USER, _DATABASE = "dbdyno", "default"
SETTINGS = ("max_threads", "max_memory_usage", "max_insert_block_size", "use_uncompressed_cache")
"""Settings that decide what a benchmark measures; read beside those that were given."""
_CONFIGURATION = """\
<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{port}</http_port>
  <path>{folder}/data/</path>
  <tmp_path>{folder}/tmp/</tmp_path>
  <user_files_path>{folder}/files/</user_files_path>
  <format_schema_path>{folder}/schemas/</format_schema_path>
  <users_config>{users}</users_config>
  <default_profile>default</default_profile>
  <default_database>{database}</default_database>
  <mark_cache_size>5368709120</mark_cache_size>
</yandex>
"""
"""The size of the cache of marks is that of the configuration ClickHouse comes with; without one it does not start."""
_USERS = """\
<?xml version="1.0"?>
<yandex>
  <profiles><default>{settings}</default></profiles>
  <quotas><default></default></quotas>
  <users>
    <{user}>
      <password>{password}</password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </{user}>
  </users>
</yandex>
"""


class ClickHouse(Server):
    """A private ClickHouse server. Settings: those of queries (`max_threads`, `max_memory_usage` …)."""

    name = "clickhouse"
    what = "ClickHouse server, for whole tables (any setting of queries, max_threads …)"
    operations = frozenset({ANALYSE})
    table_share: ClassVar[float] = 0.25
    # Newer ones are one program for all purposes, and `server` is one of them. Those of 2018 do not know --version:
    # the version is then the one that the started server says.
    layout = Layout(
        "binary",
        beside("clickhouse-server"),
        re.compile(
            r"^ClickHouse (?:\w+ )*version (?P<version>[\d.]+\d)|^Unknown option specified: version$", re.MULTILINE
        ),
        subcommand=("server",),
        config=elements("profiles/default"),
    )
    reserved = PRIVATE | {"http_port", "listen_host", "path", "profile"}
    driver_errors = (ClickHouseError, OSError)

    @classmethod
    def missing(cls) -> str | None:
        return None if find_program("clickhouse-server") else "not installed: apt install clickhouse-server"

    def start(self, launch: Launch) -> None:
        self._directory = directory = PrivateDirectory(launch)
        port, password = self.new_port(), random_password()
        given = self.server_settings
        settings = "".join(f"<{key}>{html.escape(value)}</{key}>" for key, value in given.items() if key.isidentifier())
        users = directory.write("users.xml", _USERS.format(settings=settings, user=_USER, password=password))
        paths = {"folder": directory.path, "users": users}
        configuration = directory.write("config.xml", _CONFIGURATION.format(port=port, database=_DATABASE, **paths))
        argv = [*self.program("clickhouse-server"), f"--config-file={configuration}"]
        self.endpoint = Endpoint("127.0.0.1", port, None, _USER, password, _DATABASE)
        self._run = lambda: ServerProcess(self.server_name, argv, directory, launch)
        self._server = self._run()
        self._server.wait_ready(self._answers)
        self._check_settings(given)

    def analyst(self) -> Analyst:
        return ClickHouseAnalyst(self.endpoint)

    def _answers(self) -> bool:
        try:
            ClickHouseAnalyst(self.endpoint).ask("SELECT 1")
        except self.driver_errors:
            return False
        return True

    def _check_settings(self, given: dict[str, str]) -> None:
        """Raise UserError if a setting is none, or was not taken as it was given."""
        there = self._settings()
        for key, value in given.items():
            if key not in there:
                raise UserError(f"{self.spec.label}: this server has no setting '{key}'")
            if there[key] != value:
                raise UserError(f"{self.spec.label}: {key}={value} was given, and the server has {there[key]}")

    def _settings(self) -> dict[str, str]:
        with self.asking():
            rows = ClickHouseAnalyst(self.endpoint).ask("SELECT name, value FROM system.settings")
        return {str(name): str(value) for name, value in rows}

    def servers(self) -> list[ServerStated]:
        there = self._settings()
        effective = {key: there[key] for key in (*SETTINGS, *self.spec.settings) if key in there}
        with self.asking():
            ((version,),) = ClickHouseAnalyst(self.endpoint).ask("SELECT version()")
        return [{"name": self.server_name, "version": version, "effective_settings": effective}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        return {self.server_name: without_secrets(self._settings())}

    def durability(self) -> Durability:
        return Durability("D1", "MergeTree leaves writing to the disk to the kernel")

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return {
            "kind": "clickhouse",
            "address": self.endpoint.address(),
            "user": self.endpoint.user,
            "password": self.endpoint.secret(secrets),
        }
