"""MariaDB, started privately with any engine and any setting; and what all servers of the MySQL protocol share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import ANALYSE, COPY, GET_MANY, OPERATIONS, READ_ONLY, SYSBENCH, TRANSACTION
from dbdyno.later import LaterModule
from dbdyno.systems.actions import OUTAGES, Actions
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.base import LOOPBACK, Durability, Launch, Room, numbers_of
from dbdyno.systems.copier import Copier
from dbdyno.systems.errand import Errand, statement_errand
from dbdyno.systems.mysql.analyst import MySQLAnalyst
from dbdyno.systems.mysql.binary_log import BinaryLog
from dbdyno.systems.mysql.builds import MARIADB, options_of
from dbdyno.systems.mysql.client import connect, row_versions
from dbdyno.systems.mysql.copier import TOOLS, MySQLCopier, login_options
from dbdyno.systems.mysql.durability import durability_of
from dbdyno.systems.mysql.errands import ACTIONS, MySQLStatement, Rebuild, tool_errand
from dbdyno.systems.mysql.live import OF_MARIADB, LiveServer
from dbdyno.systems.mysql.probe import QUERY_CACHE, MySQLProbe
from dbdyno.systems.mysql.settings import RESERVED, refuse_reserved, wanted_variables
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import (
    CONNECT_TIMEOUT_S,
    Endpoint,
)
from dbdyno.systems.running.password import random_password
from dbdyno.systems.running.process import (
    PrivateDirectory,
    ServerProcess,
    find_program,
    run_to_end,
    telling_lines,
)
from dbdyno.systems.running.server import private_file
from dbdyno.systems.running.tls import make_certificate
from dbdyno.systems.settings import PRIVATE, check, without_secrets
from dbdyno.systems.space import Storage
from dbdyno.systems.witness import Versions, Witness

if TYPE_CHECKING:
    import pymysql
    from pymysql.constants import CR, ER

    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import ServerStated
else:
    pymysql = LaterModule("pymysql")
    CR, ER = LaterModule("pymysql.constants.CR"), LaterModule("pymysql.constants.ER")

ENGINES_OF_SEVERAL = ("spider",)
"""Engines whose tables lie on other servers, which one server alone cannot have."""
PLUGIN_FOLDERS = ("/usr/lib/mysql/plugin", "/usr/lib64/mariadb/plugin", "/usr/lib/mariadb/plugin")
"""Folders in which distributions keep the server's plugins."""
ENGINE_PLUGINS = {"rocksdb": "ha_rocksdb", "spider": "ha_spider", "mroonga": "ha_mroonga", "connect": "ha_connect"}
ENGINE_PACKAGES = {engine: f"mariadb-plugin-{engine}" for engine in ENGINE_PLUGINS}
RECOVERY = "rocksdb_wal_recovery_mode"
"""How much of a damaged log RocksDB takes. 1, MariaDB's default: none, and the engine does not start; 2: all until the
first record that is not whole (MariaDB's documentation, MyRocks System Variables)."""
NO_HANDLER = ("rocksdb", "mroonga", "connect", "spider")
"""Engines whose tables HANDLER does not open."""
NOT_TRANSACTIONAL = ("myisam", "aria", "memory", "mroonga", "csv", "archive")
"""Engines that take a transaction's begin and end, and do each statement for itself."""
BOOTSTRAP_SETTINGS = ("innodb_page_size", "innodb_data_file_path", "innodb_undo_tablespaces", "lower_case_table_names")
"""Settings a data directory is made with, so that they must be given when it is."""
VARIABLES = (
    "default_storage_engine",
    "innodb_buffer_pool_size",
    "innodb_lru_scan_depth",
    "innodb_page_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_log_file_size",
    "innodb_io_capacity",
    "rocksdb_flush_log_at_trx_commit",
    "key_buffer_size",
    "aria_pagecache_buffer_size",
    "log_bin",
    "sync_binlog",
    "max_connections",
    "query_cache_type",
    "performance_schema",
    "thread_handling",
    "tx_isolation",
    "transaction_isolation",
)
"""Server variables that decide what a benchmark measures; read beside those the person gave."""
COUNTERS = (
    "Questions",
    "Com_select",
    "Com_ha_read",
    "Com_update",
    "Com_insert",
    "Com_stmt_prepare",
    "Com_stmt_execute",
    "Handler_commit",
    "Handler_read_key",
    "Handler_update",
    "Innodb_rows_read",
    "Innodb_rows_updated",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_pages_flushed",
    "Innodb_os_log_fsyncs",
    "Innodb_os_log_written",
    "Innodb_row_lock_waits",
    "Innodb_row_lock_time",
    "Aborted_connects",
    "Bytes_received",
    "Bytes_sent",
)
_NEW_USER = """\
DELETE FROM mysql.global_priv WHERE User IN ('root', '');
FLUSH PRIVILEGES;
CREATE DATABASE IF NOT EXISTS dbdyno;
CREATE OR REPLACE USER 'dbdyno'@'localhost' IDENTIFIED BY '{password}';
CREATE OR REPLACE USER 'dbdyno'@'{host}' IDENTIFIED BY '{password}';
GRANT ALL PRIVILEGES ON *.* TO 'dbdyno'@'localhost';
GRANT ALL PRIVILEGES ON *.* TO 'dbdyno'@'{host}';
"""
"""Without a password, any user of the host could read and write files as the server's user while it runs."""


SINCE_5_6 = {READ_ONLY: "MySQL has START TRANSACTION READ ONLY since 5.6"}
"""Why an old version lacks an operation."""


class MySQLServer(LiveServer):
    """A server of the MySQL protocol. Settings of its clients: `engine`, `access`, `protocol` (see MariaDB).

    shown_variables: those that say what is measured. variables_query: asks for all of them.
    """

    protocol: ClassVar[str] = "MySQL"
    operations = frozenset({*OPERATIONS, ANALYSE, COPY, SYSBENCH})
    libraries: ClassVar[tuple[str, ...]] = ("pymysql", "mysqlclient")
    speaks_sql = True
    driver_modules = ("pymysql",)
    shown_variables: tuple[str, ...] = VARIABLES
    variables_query = "SHOW GLOBAL VARIABLES"

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        return (pymysql.MySQLError, OSError)

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.engine = spec.settings.get("engine")
        self.check_choice("access", ("sql", "handler"))
        self.check_choice("protocol", ("prepared", "text"))
        self._refuse_engine()
        if (self.engine or "").lower() in NOT_TRANSACTIONAL:
            self.operations = self.operations - {TRANSACTION, READ_ONLY}
        if spec.settings.get("access") == "handler":
            self.operations = self.operations - {GET_MANY}

    def _refuse_engine(self) -> None:
        """Raise UserError for an engine that one server cannot have alone, or that cannot be read as asked."""
        engine = (self.engine or "").lower()
        if engine in ENGINES_OF_SEVERAL:
            raise UserError(
                f"{self.spec.label}: tables of {self.engine} lie on other servers, and dbdyno makes them only between"
                f" servers of its own: give mariadb?engine={self.engine}, or another engine"
            )
        if self.spec.settings.get("access") == "handler" and engine in NO_HANDLER:
            raise UserError(
                f"{self.spec.label}: HANDLER does not open tables of {self.engine}: leave access=handler out"
            )

    @classmethod
    def libraries_for(cls, settings: Mapping[str, str]) -> tuple[str, ...]:
        return () if {"access", "protocol", "tls"} & settings.keys() else cls.libraries

    def leave_out_what_came_after(self, release: tuple[int, ...]) -> None:
        """Give up the operations that a release does not have; an unknown one is empty, and has all."""
        if () < release < (5, 6):
            self.operations = self.operations - {READ_ONLY}

    def _check_engine(self) -> None:
        if self.engine is None:
            return
        available = self._engines()
        if self.engine.lower() not in (name.lower() for name in available):
            # The host's packages are for the host's own server.
            is_hosts = not (self.spec.attached or self.is_not_the_hosts)
            package = ENGINE_PACKAGES.get(self.engine.lower()) if is_hosts else None
            hint = f"apt install {package}" if package else f"it has {', '.join(available)}"
            raise UserError(f"{self.spec.label}: this server has no engine '{self.engine}'; {hint}")

    def _engines(self) -> list[str]:
        """Return the engines that it runs."""
        engines = {row[0]: row[1] for row in self._query("SHOW ENGINES")}
        return [name for name, support in engines.items() if support in ("YES", "DEFAULT")]

    def _ask(self, statement: str) -> dict[str, str]:
        with self.asking():
            return dict(self._query(statement))

    def _query(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        endpoint = self.endpoint
        connection = connect(endpoint, database=endpoint.database or None, read_timeout=CONNECT_TIMEOUT_S)
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            rows: tuple[tuple[Any, ...], ...] = cursor.fetchall()
            return rows

    def _variables(self) -> dict[str, str]:
        variables = self._ask(self.variables_query)
        if variables.get("innodb_flush_method") == "":
            # MySQL before 8.0 shows its default as an empty text.
            variables["innodb_flush_method"] = "fsync"
        return variables

    def servers(self) -> list[ServerStated]:
        variables = self._variables()
        given = {key.replace("-", "_") for key in self.spec.settings}
        names = (*self.shown_variables, *sorted(given - set(self.shown_variables)))
        effective = {key: variables[key] for key in names if key in variables} | self.endpoint.effective_settings()
        if self.engine:
            effective["engine"] = self.engine
        if self.endpoint.tls:
            status = self._ask("SHOW SESSION STATUS LIKE 'Ssl_%'")
            effective["tls"] = f"{status['Ssl_version']} {status['Ssl_cipher']}"
        return [{"name": self.server_name, "version": variables["version"], "effective_settings": effective}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        return {self.server_name: without_secrets(self._variables())}

    def durability(self) -> Durability:
        variables = self._variables()
        return durability_of(self.engine or variables.get("default_storage_engine", "its own"), variables)

    def counters(self) -> dict[str, dict[str, int]]:
        return {self.server_name: numbers_of(self._ask("SHOW GLOBAL STATUS"), COUNTERS)}

    def probes(self) -> list[Probe]:
        has_cache = self.spec.settings.get("query_cache_type", "off").lower() not in ("off", "0")
        return [MySQLProbe(self.server_name, self.endpoint, QUERY_CACHE if has_cache else None)]

    def statement(self, sql: str) -> Errand:
        return statement_errand(MySQLStatement(self.endpoint, sql), self.driver_modules)

    def login(self, folder: Path) -> dict[str, str]:
        options = private_file(folder / "client.cnf", login_options(self.endpoint))
        return super().login(folder) | {"DBDYNO_DEFAULTS_FILE": str(options)}

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return {
            "kind": "mysql",
            "address": self.endpoint.address(),
            "user": self.endpoint.user or "root",
            "password": self.endpoint.secret(secrets),
            "database": self.endpoint.database,
            "table_options": f"ENGINE={self.engine}" if self.engine else "",
            "access": self.spec.settings.get("access", "sql"),
            "protocol": self.spec.settings.get("protocol", "prepared"),
            "tls": self.endpoint.encryption(),
            # MariaDB refuses bulk operations if it logs statements.
            **({"load_with": "insert"} if self.spec.settings.get("binlog_format", "").upper() == "STATEMENT" else {}),
        }


class MariaDB(MySQLServer):
    """A private MariaDB server. Settings: those of `own_settings`, and any server variable.

    engine: of dbdyno's tables. connect: `tcp` or `socket`. access: by `sql`, or rows are read by `HANDLER … READ`
    (`handler`). protocol: statements are `prepared`, or sent as `text`. tls: `on`, and clients connect with it.
    """

    name = "mariadb"
    what = "MariaDB, any engine (engine=…; of Spider also backends=N), any server variable"
    own_settings: ClassVar[tuple[str, ...]] = ("engine", "connect", "access", "protocol", "tls")
    reserved = PRIVATE | RESERVED
    # InnoDB takes whole pages of 16 KiB in each of 64 chunks: other sizes than whole MiB become smaller ones.
    room: ClassVar[Mapping[str, Room]] = {"innodb_buffer_pool_size": Room(1 << 20, 1.7, "M")}
    storage: ClassVar[Storage] = Storage(1.3, 30, empty_bytes=135_000_000)
    copy_tools = TOOLS
    actions: ClassVar[Actions] = {**ACTIONS, **OUTAGES}
    server_program = "mariadbd"
    layout = MARIADB
    can_crash = True
    serves_hosts = True
    levers: Mapping[str, str] = {
        "checkpoint": "innodb_log_file_size=1G",
        "disk": "innodb_buffer_pool_size=1G",
        "commit": "innodb_flush_log_at_trx_commit=2",
        "server-queue": "thread_pool_size=8",
        "connections": "max_connections=1000",
    }
    live_settings = OF_MARIADB
    can_keep = True
    new_user = _NEW_USER
    _repairs: tuple[str, ...] = ()

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        refuse_reserved(spec.label, self.server_settings, self.reserved)
        self.check_tls()

    @classmethod
    def missing(cls) -> str | None:
        if find_program("mariadbd") and find_program("mariadb-install-db"):
            return None
        return "mariadbd is not installed: apt install mariadb-server-core"

    @classmethod
    def missing_for(cls, settings: Mapping[str, str]) -> str | None:
        engine = settings.get("engine", "").lower()
        folders = [folder for folder in map(Path, PLUGIN_FOLDERS) if folder.is_dir()]
        files = [folder / f"{ENGINE_PLUGINS.get(engine)}.so" for folder in folders]
        if engine not in ENGINE_PLUGINS or not folders or any(file.exists() for file in files):
            return None
        return f"its engine {settings['engine']} is not installed: apt install {ENGINE_PACKAGES[engine]}"

    def start(self, launch: Launch) -> None:
        self._directory = directory = PrivateDirectory(launch)
        data, socket = directory.path / "data", directory.socket_path()
        password = self.new_password()
        # The pattern is for any host.
        host = LOOPBACK if launch.address == LOOPBACK else "%"
        init = directory.write("init.sql", self.new_user.format(password=password, host=host))
        log_path = launch.log_folder / f"server-{self.server_name}.log"
        if not launch.data:
            run_to_end(self._make_data_command(data), directory.path, log_path)
        port = self.new_port(launch.address)
        certificate, key, tls = make_certificate(directory) if self.encrypts else ("", "", None)
        argv = [
            *self.program(self.server_program),
            self.defaults(directory),
            *self.base_options(),
            f"--datadir={data}",
            f"--port={port}",
            f"--bind-address={launch.address}",
            # Else it asks for the name of each client's host, and waits if nobody knows it.
            *([] if launch.address == LOOPBACK else ["--skip-name-resolve"]),
            f"--socket={socket}",
            f"--pid-file={directory.path / 'pid'}",
            f"--init-file={init}",
            *(
                []
                if "max_connections" in self.spec.settings
                else [f"--max-connections={max(151, launch.clients + 20)}"]
            ),
            *([f"--ssl-cert={certificate}", f"--ssl-key={key}"] if tls else []),
            *self.server_options(),
        ]
        self._run = lambda: ServerProcess(self.server_name, [*argv, *self._repairs], directory, launch)
        self._server = self._run()
        self.endpoint = Endpoint(launch.address, port, str(socket), "dbdyno", password, "dbdyno")
        self._server.wait_ready(self._answers)
        self._check_engine()
        self._check_settings()
        if not self.on_socket:
            self.endpoint = replace(self.endpoint, socket=None, tls=tls)

    def start_again(self) -> None:
        super().start_again()
        # A server whose engine does not come up starts without it.
        engine = (self.engine or "").lower()
        if engine in ENGINE_PLUGINS and engine not in (name.lower() for name in self._engines()):
            said = telling_lines(self.process.log_path, self.process.log_begins)
            raise RunFailed(f"{self.server_name} started without its engine {self.engine}: {said}")

    def repair(self) -> str | None:
        """Have RocksDB end its log at the first record that a kill left half written, from the next start on."""
        given = {key.replace("-", "_") for key in self.server_settings}
        if (self.engine or "").lower() != "rocksdb" or RECOVERY in given:
            return None
        self.process.stop()
        self._repairs = (f"--{RECOVERY}=2",)
        return f"{self.server_program} --{RECOVERY}=2"

    def defaults(self, directory: PrivateDirectory) -> str:
        """Return the option, first of all, that keeps the host's files of options out."""
        del directory
        return "--no-defaults"

    def new_password(self) -> str:
        """Return the password that its user is to have."""
        return random_password()

    def analyst(self) -> Analyst:
        with self.asking():
            return MySQLAnalyst(self.endpoint, self.engine, self.directory.path / "data")

    def action(self, name: str, table: str | None = None) -> Errand:
        if program := self.action_program(name):
            return tool_errand(name, program, self.endpoint, self.directory)
        return statement_errand(Rebuild(self.endpoint, table), self.driver_modules)

    def copier(self, tool: str, workers: int, programs: Mapping[str, str] | None = None) -> Copier:
        with self.asking():
            return MySQLCopier(self.endpoint, self.directory, tool, programs or self.tool_programs(tool), workers)

    def versions(self, tables: Mapping[str, int]) -> Versions:
        with self.asking():
            return row_versions(self.endpoint, tables)

    def witnesses(self) -> list[Witness]:
        variables = self._variables()
        if variables.get("log_bin") != "ON":
            return []

        def files() -> list[Path]:
            with self.asking():
                names = [row[0] for row in self._query("SHOW BINARY LOGS")]
            return [Path(variables["log_bin_basename"]).with_name(name) for name in names]

        return [BinaryLog(variables, self.endpoint.database, files)]

    def _make_data_command(self, data: Path) -> list[str]:
        """Return the command that makes the data directory."""
        return [
            *self.program("mariadb-install-db"),
            "--no-defaults",
            *self.base_options()[:1],
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            *self.made_with(),
        ]

    def made_with(self) -> list[str]:
        """Return the options of the settings that a data directory is made with."""
        return [f"--{key}={self.spec.settings[key]}" for key in BOOTSTRAP_SETTINGS if key in self.spec.settings]

    def base_options(self) -> list[str]:
        """Return the options that a server needs which is not where it was built for."""
        if (there := self.installation()) is None:
            return []
        # From 11.4 on a server makes itself a certificate at its start, which takes it seconds and is of no use here.
        return [*options_of(there.folder), *([] if self.encrypts else ["--loose-skip-ssl"])]

    def server_options(self) -> list[str]:
        """Return the command-line options of the settings and of the engine."""
        options = []
        if plugin := ENGINE_PLUGINS.get((self.engine or "").lower()):
            options += ["--plugin-maturity=unknown", f"--plugin-load-add={plugin}"]
        for key, value in self.server_settings.items():
            if key == "log_bin" and value.lower() in ("on", "1", "off", "0"):
                # As an option, log_bin takes the name of the files: `--log_bin=on` would call them "on".
                options.append("--log-bin=binlog" if value.lower() in ("on", "1") else "--skip-log-bin")
            else:
                options.append(f"--{key}={value}" if value else f"--{key}")
        return options

    def _answers(self) -> bool:
        try:
            self._query("SELECT 1")
        except pymysql.MySQLError:
            return False
        return True

    def _check_settings(self) -> None:
        """Raise UserError if the server has a setting with another value than it was given."""
        if given := self.server_settings:
            variables = self._variables()
            check(self.spec.label, wanted_variables(self.spec.label, given, variables), variables)
