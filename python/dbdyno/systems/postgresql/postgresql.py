"""PostgreSQL, started privately with any server setting, or attached by URL."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.password import VARIABLE as PASSWORD_VARIABLE
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import ANALYSE, COPY, OPERATIONS, SYSBENCH
from dbdyno.later import LaterModule
from dbdyno.leftovers.shared_memory import remove_shared_memory
from dbdyno.systems.actions import OUTAGES, Actions
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.answers import Answer
from dbdyno.systems.base import LOOPBACK, Durability, Launch, numbers_of
from dbdyno.systems.builds.config import assignments
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.copier import Copier
from dbdyno.systems.errand import Errand, statement_errand
from dbdyno.systems.live_settings import NOT_DURABLE, LiveSetting
from dbdyno.systems.postgresql.analyst import AttachedPostgreSQLAnalyst, PostgreSQLAnalyst
from dbdyno.systems.postgresql.copier import TOOLS, PostgreSQLCopier
from dbdyno.systems.postgresql.errands import ACTIONS, PostgreSQLStatement, on_table, tool_errand
from dbdyno.systems.postgresql.probe import PostgreSQLProbe, connect, existing_views, statistics
from dbdyno.systems.postgresql.settings import Setting, is_accepted
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import Endpoint, Unreached, endpoint_of, refuse_server_settings
from dbdyno.systems.running.password import random_password
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess, find_program, run_to_end
from dbdyno.systems.running.server import Server, private_file
from dbdyno.systems.running.tls import (
    ATTACHED_SETTINGS,
    LIBPQ_SETTINGS,
    attached_tls,
    hint,
    in_our_words,
    make_certificate,
)
from dbdyno.systems.settings import PRIVATE, without_secrets
from dbdyno.systems.space import Storage

if TYPE_CHECKING:
    import psycopg

    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import ServerStated
else:
    psycopg = LaterModule("psycopg")

PLACES = (("/usr/lib/postgresql", "*/bin"), ("/usr", "pgsql-*/bin"))
"""Folders in which Debian and Red Hat keep each version's programs, which are on no PATH."""
SETTINGS = (
    "shared_buffers",
    "effective_cache_size",
    "work_mem",
    "max_connections",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "wal_level",
    "wal_buffers",
    "max_wal_size",
    "checkpoint_timeout",
    "commit_delay",
    "autovacuum",
    "jit",
    "huge_pages",
    "io_method",
    "data_checksums",
    "default_transaction_isolation",
)
"""Settings that decide what a benchmark measures; read beside those that are not the default."""
COUNTERS = {
    "pg_stat_database": (
        "xact_commit",
        "xact_rollback",
        "blks_read",
        "blks_hit",
        "tup_returned",
        "tup_fetched",
        "tup_inserted",
        "tup_updated",
        "tup_deleted",
        "conflicts",
        "deadlocks",
        "temp_bytes",
    ),
    "pg_stat_wal": ("wal_records", "wal_fpi", "wal_bytes", "wal_buffers_full", "wal_write", "wal_sync"),
    "pg_stat_bgwriter": (
        "checkpoints_timed",
        "checkpoints_req",
        "buffers_checkpoint",
        "buffers_clean",
        "buffers_backend",
        "buffers_alloc",
    ),
    "pg_stat_checkpointer": ("num_timed", "num_requested", "buffers_written"),
}
"""Counters by the view that has them; the last is there since version 17."""
RESERVED = frozenset(
    (
        *("unix_socket_directories", "unix_socket_group", "unix_socket_permissions", "hba_file", "ident_file"),
        *("external_pid_file", "ssl", "ssl_cert_file", "ssl_key_file", "ssl_ca_file", "ssl_passphrase_command"),
    )
)
"""Settings that say where the server is and who gets in."""
_MADE_WITH = ("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
_OTHER_HOSTS = "host all all all scram-sha-256\n"
"""A line of pg_hba.conf: clients on other hosts need the password, as those on this host do."""
_CHECKSUMS = "data_checksums"
"""A setting that a data directory is made with, and that no server takes."""
_USER, _DATABASE = "dbdyno", "postgres"
_SPARE_CONNECTIONS = 20
_RELOADED_WITHIN_S, _RELOADED_AFTER_S = 5.0, 0.05
"""How long a changed setting may take to be in force, and how often that is looked at."""


class _Postmaster(ServerProcess):
    """On SIGTERM it would wait for its clients, on SIGINT it writes everything and ends.

    Without that, it has not written what goes away with its directory.
    """

    stop_signal = signal.SIGQUIT
    orderly_signal = signal.SIGINT

    def _forget(self) -> None:
        remove_shared_memory(self._folder / "data")
        super()._forget()


class PostgreSQLServer(Server):
    """A server of the PostgreSQL protocol."""

    forks = True
    speaks_sql = True

    protocol: ClassVar[str] = "PostgreSQL"
    operations = frozenset({*OPERATIONS, ANALYSE, COPY, SYSBENCH})
    driver_modules = ("psycopg",)
    libraries: ClassVar[tuple[str, ...]] = ("psycopg",)
    pipelines = True

    @classmethod
    def libraries_for(cls, settings: Mapping[str, str]) -> tuple[str, ...]:
        return () if {*ATTACHED_SETTINGS, *LIBPQ_SETTINGS} & settings.keys() else cls.libraries

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        return (psycopg.Error, OSError)

    def _settings(self) -> dict[str, Setting]:
        """Return every setting in force by its name."""
        with self.asking():
            rows = self._query(
                "SELECT name, setting AS value, unit, vartype AS kind, source, current_setting(name) AS text "
                "FROM pg_settings"
            )
        return {row["name"].lower(): Setting(**row) for row in rows}

    def _query(self, statement: str, *parameters: Any) -> list[Answer]:
        with connect(self.endpoint) as connection:
            return connection.execute(statement, parameters).fetchall()

    def _query_nothing(self, statement: str) -> None:
        with connect(self.endpoint) as connection:
            connection.execute(statement)

    def servers(self) -> list[ServerStated]:
        there = self._settings()
        given = {key.lower() for key in self.spec.settings} & there.keys()
        changed = {key for key, setting in there.items() if setting.is_changed}
        names = dict.fromkeys([*SETTINGS, *sorted(given | changed)])
        effective = {key: there[key].text for key in names if key in there} | self.endpoint.effective_settings()
        if self.endpoint.tls:
            with self.asking():
                (own,) = self._query("SELECT version, cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            effective["tls"] = f"{own['version']} {own['cipher']}"
        return [{"name": self.server_name, "version": there["server_version"].text, "effective_settings": effective}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        settings = {key: setting.text for key, setting in self._settings().items()}
        return {self.server_name: without_secrets(settings)}

    def durability(self) -> Durability:
        return durability_of({key: setting.text for key, setting in self._settings().items()})

    def counters(self) -> dict[str, dict[str, int]]:
        seen: dict[str, int] = {}
        with self.asking(), connect(self.endpoint) as connection:
            for view in existing_views(connection, list(COUNTERS)):
                seen |= numbers_of(statistics(connection, view), COUNTERS[view])
        return {self.server_name: seen}

    def setting(self, name: str) -> str:
        with self.asking():
            return str(self._query("SELECT current_setting(%s) AS value", name)[0]["value"])

    def change_setting(self, name: str, value: str) -> None:
        # The command line overrides this file, so whether a setting took effect shows only afterwards.
        with self.asking():
            self._query_nothing(f"ALTER SYSTEM SET {name} = '{value}'")
            self._query("SELECT pg_reload_conf()")
        deadline = time.monotonic() + _RELOADED_WITHIN_S
        while self.setting(name) != value:
            if time.monotonic() > deadline:
                raise UserError(f"{self.server_name} does not take {name}={value} while it runs")
            time.sleep(_RELOADED_AFTER_S)

    def probes(self) -> list[Probe]:
        return [PostgreSQLProbe(self.server_name, self.endpoint)]

    def statement(self, sql: str) -> Errand:
        return statement_errand(PostgreSQLStatement(self.endpoint, sql), self.driver_modules)

    def login(self, folder: Path) -> dict[str, str]:
        endpoint, known = self.endpoint, super().login(folder)
        host, port = endpoint.host, str(endpoint.port)
        if endpoint.socket:
            host, port = str(Path(endpoint.socket).parent), endpoint.socket.rpartition(".")[2]
        entry = private_file(folder / "pgpass", f"*:*:*:*:{endpoint.password or ''}\n")
        variables = {"host": host, "port": port, "user": endpoint.user or "postgres", "database": endpoint.database}
        variables |= {"passfile": str(entry), **(endpoint.tls.libpq() if endpoint.tls else {})}
        return known | {f"PG{key.upper()}": str(value) for key, value in variables.items()}

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return {
            "kind": "postgres",
            "address": self.endpoint.address(),
            "user": self.endpoint.user or "postgres",
            "password": self.endpoint.secret(secrets),
            "database": self.endpoint.database,
            "tls": self.endpoint.encryption(),
        }


class PostgreSQL(PostgreSQLServer):
    """A private PostgreSQL server. Settings: `connect` (`tcp` or `socket`), `tls` (`on`), and any server setting."""

    name = "postgresql"
    what = "PostgreSQL, any server setting (shared_buffers=1GB, synchronous_commit=off …)"
    own_settings: ClassVar[tuple[str, ...]] = ("connect", "tls")
    # max_wal_size is 1 GB.
    storage: ClassVar[Storage] = Storage(1.15, 40, empty_bytes=40_000_000, most_log_bytes=1 << 30)
    copy_tools = TOOLS
    actions: ClassVar[Actions] = {**ACTIONS, **OUTAGES}
    reserved = PRIVATE | RESERVED
    layout = Layout(
        "bindir", beside("postgres", "initdb"), re.compile(r"^postgres \(.*?\) (?P<version>\S+)"), config=assignments
    )
    can_crash = True
    serves_hosts = True
    levers: Mapping[str, str] = {
        "checkpoint": "max_wal_size=8GB",
        "disk": "shared_buffers=1GB",
        "commit": "synchronous_commit=off",
        "vacuum": "autovacuum_vacuum_cost_delay=20ms",
        "connections": "max_connections=1000",
    }
    live_settings: ClassVar[Mapping[str, LiveSetting]] = {
        "checkpoint": LiveSetting("max_wal_size", "8GB"),
        "commit": LiveSetting("synchronous_commit", "off", NOT_DURABLE),
    }
    can_keep = True

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.check_tls()

    @classmethod
    def missing(cls) -> str | None:
        return None if programs() else "postgres is not installed: apt install postgresql"

    def start(self, launch: Launch) -> None:
        self._directory = directory = PrivateDirectory(launch)
        data = directory.path / "data"
        password = self.new_password()
        self._make_data(directory, data, password, launch)
        port = self.new_port(launch.address)
        socket = directory.socket_path(f".s.PGSQL.{port}") if self.on_socket else None
        certificate, key, tls = make_certificate(directory) if self.encrypts else ("", "", None)
        settings = {
            "port": str(port),
            "listen_addresses": launch.address,
            "unix_socket_directories": str(directory.path) if socket else "",
            "max_connections": str(max(100, launch.clients + _SPARE_CONNECTIONS)),
            **({"ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": key} if tls else {}),
            **{key: value for key, value in self.server_settings.items() if key.lower() != _CHECKSUMS},
        }
        argv = [*self.program("postgres"), "-D", str(data)]
        argv += [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        self._run = lambda: _Postmaster(self.server_name, argv, directory, launch)
        self._server = self._run()
        path = str(socket) if socket else None
        self.endpoint = Endpoint(launch.address, port, path, _USER, password, _DATABASE, tls)
        self._server.wait_ready(self._answers)
        self._check_settings()

    def new_password(self) -> str:
        """Return the password that its user is to have."""
        return random_password()

    def analyst(self) -> Analyst:
        with self.asking():
            return PostgreSQLAnalyst(self.endpoint)

    def tool_program(self, name: str) -> str | None:
        # Those of the server's own version: pg_dump refuses a newer server.
        path = Path(self.program("postgres")[-1]).with_name(name)
        return str(path) if path.is_file() else None

    def missing_tool(self, tool: str) -> str | None:
        reason = super().missing_tool(tool)
        # The host's package has another version, so installing it would not help.
        if reason is None or not self.is_not_the_hosts:
            return reason
        return f"{self.spec.product} comes without {' and '.join(self.copy_tools[tool].programs)}"

    def action(self, name: str, table: str | None = None) -> Errand:
        if program := self.action_program(name):
            return tool_errand(name, program, self.endpoint, self.directory)
        return statement_errand(on_table(name, self.endpoint, table), self.driver_modules)

    def copier(self, tool: str, workers: int, programs: Mapping[str, str] | None = None) -> Copier:
        with self.asking():
            return PostgreSQLCopier(self.endpoint, self.directory, tool, programs or self.tool_programs(tool), workers)

    def _make_data(self, directory: PrivateDirectory, data: Path, password: str, launch: Launch) -> None:
        """Make the data directory, or give the one that was copied this start's password."""
        log_path = launch.log_folder / f"server-{self.server_name}.log"
        if launch.data:
            alone = [*self.program("postgres"), "--single", "-D", str(data), _DATABASE]
            run_to_end(alone, directory.path, log_path, f"ALTER ROLE {_USER} PASSWORD '{password}'\n")
            return
        password_file = directory.write("password", password)
        run_to_end(self._initdb_command(data, password_file), directory.path, log_path)
        password_file.unlink()
        if launch.address != LOOPBACK:
            with (data / "pg_hba.conf").open("a") as file:
                file.write(_OTHER_HOSTS)

    def program(self, name: str) -> list[str]:
        return super().program(name) if self.installation() else [str((programs() or Path()) / name)]

    def _initdb_command(self, data: Path, password_file: Path) -> list[str]:
        """Return the command that makes the data directory; nobody gets in without the password.

        If it fails it removes nothing: the directory names the shared memory of a server that was killed in it.
        """
        return [
            *self.program("initdb"),
            "-n",
            f"--pgdata={data}",
            f"--username={_USER}",
            f"--pwfile={password_file}",
            *(*_MADE_WITH, *self._checksums()),
        ]

    def _checksums(self) -> list[str]:
        """Return the option of initdb that the setting of checksums stands for."""
        given = {key.lower(): value.lower() for key, value in self.server_settings.items()}
        if _CHECKSUMS not in given:
            return []
        if given[_CHECKSUMS] in ("on", "true", "yes", "1"):
            return ["--data-checksums"]
        # Up to 17 they are off unless asked for, and initdb knows no word for that.
        known = subprocess.run([*self.program("initdb"), "--help"], capture_output=True, text=True, check=False).stdout
        return ["--no-data-checksums"] if "--no-data-checksums" in known else []

    def started_with(self) -> dict[str, list[str]]:
        # How text is compared is decided here, once and for all.
        made = [f"initdb {option}" for option in (*_MADE_WITH, *self._checksums())]
        return {name: [*given, *made] for name, given in super().started_with().items()}

    def _answers(self) -> bool:
        """Return whether this server has written down that it takes connections, where pg_ctl looks too: to ask forks.

        A killed server leaves a file there with its process ID, which says that it is ready, too.
        """
        try:
            lines = (self.directory.path / "data" / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[0] == str(self.process.pid) and lines[7].strip() == "ready"

    def _check_settings(self) -> None:
        """Raise UserError if a setting was not taken as it was given."""
        there = self._settings()
        for key, value in self.server_settings.items():
            if (setting := there.get(key.lower())) is None:
                raise UserError(f"{self.spec.label}: this server has no setting '{key}'")
            if not is_accepted(setting, value):
                raise UserError(f"{self.spec.label}: {key}={value} was given, and the server has {setting.text}")


class AttachedPostgreSQL(PostgreSQLServer):
    """Somebody else's server: `postgresql://user:password@host:port/database`."""

    name = "postgresql"
    schemes = ("postgresql",)
    what = "any PostgreSQL server: postgresql://user@host:5432/database"
    own_settings: ClassVar[tuple[str, ...]] = (*ATTACHED_SETTINGS, *LIBPQ_SETTINGS)

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        refuse_server_settings(spec, (*self.own_settings, "socket"))
        self.endpoint = replace(endpoint_of(spec.url, 5432), tls=attached_tls(in_our_words(spec)))
        if not self.endpoint.database:
            raise UserError(f"{spec.label}: name the database to make dbdyno's tables in, postgresql://…/database")

    def analyst(self) -> Analyst:
        with self.asking():
            return AttachedPostgreSQLAnalyst(self.endpoint)

    def attach(self) -> None:
        try:
            self._query("SELECT 1")
        except psycopg.Error as error:
            if why := _explain(error):
                raise UserError(f"{self.spec.label}: {why}") from None
            raise Unreached(error) from None


def _explain(error: psycopg.Error) -> str | None:
    """Return what a server means that lets nobody in, or None if nothing spoke its protocol to the end.

    libpq tells the kinds apart in words alone.
    """
    message = " ".join(str(error).split())
    if todo := hint(message):
        return f"{message}; {todo}"
    if "authentication failed" in message or "no password supplied" in message:
        return f"{message}; check the user and the password in the URL or in {PASSWORD_VARIABLE}"
    return message if error.sqlstate or "FATAL:" in message else None


def programs() -> Path | None:
    """Return the directory that holds `initdb` and `postgres`, of the newest version there is."""
    on_path = [Path(program).resolve().parent for name in ("initdb", "postgres") if (program := find_program(name))]
    kept = [folder for root, pattern in PLACES for folder in Path(root).glob(pattern)]
    kept.sort(key=_version_of, reverse=True)
    whole = (folder for folder in (*on_path, *kept) if all((folder / name).exists() for name in ("initdb", "postgres")))
    return next(whole, None)


def _version_of(folder: Path) -> float:
    digits = "".join(c for c in folder.parent.name if c.isdigit() or c == ".")
    return float(digits or 0)


def durability_of(settings: dict[str, str]) -> Durability:
    """Return what the settings in force promise of an acknowledged write."""
    if settings["fsync"] == "off":
        return Durability("D0", "fsync=off")
    commit = settings["synchronous_commit"]
    if commit == "off":
        return Durability("D1", "synchronous_commit=off: flushed a few wal_writer_delay later")
    # A torn page makes the table unreadable, not the commit late: the class stays, the doubt is said.
    doubt = ", but full_page_writes=off: a power cut can tear pages" if settings["full_page_writes"] == "off" else ""
    return Durability("D2", f"fsync=on synchronous_commit={commit}{doubt}")
