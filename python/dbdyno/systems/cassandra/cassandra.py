"""Cassandra, started privately with any setting of cassandra.yaml, or any server of its protocol attached by URL."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.password import VARIABLE as PASSWORD_VARIABLE
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import (
    DELETE,
    FIND_SECONDARY,
    FIND_UNIQUE,
    GET,
    GET_MANY,
    INSERT,
    PUT,
    SCAN,
    UPDATE,
)
from dbdyno.later import LaterModule
from dbdyno.systems.answers import Answer
from dbdyno.systems.base import Durability, Launch
from dbdyno.systems.builds.build import Build
from dbdyno.systems.builds.config import scalars
from dbdyno.systems.builds.layout import Layout
from dbdyno.systems.cassandra.jvm import OPTIONS, heap_mib, java, missing_java
from dbdyno.systems.packages.cache import Installation, installed
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import Endpoint, Unreached, endpoint_of, refuse_server_settings
from dbdyno.systems.running.ports import free_port
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess
from dbdyno.systems.running.server import Server
from dbdyno.systems.settings import PRIVATE, without_secrets

if TYPE_CHECKING:
    import psutil

    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import ServerStated
else:
    psutil = LaterModule("psutil")

KEYSPACE = "dbdyno_data"
CONSISTENCY = ("ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE")
"""Levels of consistency that reads can have, which ANY is not; the default first."""
SETTINGS = (
    "commitlog_sync",
    "commitlog_sync_period",
    "concurrent_reads",
    "concurrent_writes",
    "native_transport_max_threads",
    "memtable_heap_space",
    "memtable_allocation_type",
    "key_cache_size",
    "row_cache_size",
    "file_cache_size",
    "disk_access_mode",
    "compaction_throughput",
    "default_secondary_index",
    "num_tokens",
    "authenticator",
)
"""Settings that decide what a benchmark measures; read beside those that were given."""
RESERVED = frozenset(
    (
        *("cluster_name", "partitioner", "seed_provider", "storage_port", "ssl_storage_port", "native_transport_port"),
        *("native_transport_port_ssl", "listen_interface", "rpc_address", "rpc_interface", "broadcast_address"),
        *("broadcast_rpc_address", "data_file_directories", "commitlog_directory", "hints_directory"),
        *("saved_caches_directory", "cdc_raw_directory", "client_encryption_options", "server_encryption_options"),
    )
)
"""Settings that say where the node is and who gets in."""
START_TIMEOUT_S = 180.0
"""A Java machine that compiles as it goes: 16 s on an idle host, and a busy one takes several times as long."""
_SUPERUSER = "cassandra"
"""The user, and its password, that a new Cassandra has if it asks for one."""
_LOGGING = """\
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
"""


class CassandraServer(Server):
    """A server of the CQL protocol. Setting of its clients: `consistency`."""

    protocol: ClassVar[str] = "CQL"
    driver_modules: ClassVar[tuple[str, ...]] = ("dbdyno.systems.cassandra.probe",)
    operations = frozenset((GET, GET_MANY, UPDATE, INSERT, FIND_UNIQUE, FIND_SECONDARY, PUT, DELETE))
    reasons: ClassVar[dict[str, str]] = {SCAN: "it hashes keys to nodes, so they have no order"}
    libraries: ClassVar[tuple[str, ...]] = ("cassandra-driver",)
    log_threads = ("COMMIT-LOG-WRITER", "GROUP-COMMIT-LOG-WRITER", "PERIODIC-COMMIT-LOG-SYNCER")
    pipelines = True

    @staticmethod
    def missing_driver() -> str | None:
        return missing_driver()

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.check_choice("consistency", CONSISTENCY)

    def _ask(self, *statements: str) -> list[list[Answer]]:
        answers: list[list[Answer]] = _views().ask(self.endpoint, *statements)
        return answers

    def _settings(self) -> tuple[str, dict[str, str]]:
        """Return the server's version, and its settings as far as it shows them."""
        try:
            (local,), rows = self._ask(
                "SELECT release_version FROM system.local", "SELECT name, value FROM system_views.settings"
            )
        except RunFailed as error:
            raise RunFailed(f"{self.spec.label}: {self.server_name} does not answer: {error}") from None
        return local["release_version"], {row["name"]: row["value"] or "" for row in rows}

    def servers(self) -> list[ServerStated]:
        version, there = self._settings()
        names = dict.fromkeys([*SETTINGS, *self.spec.settings])
        effective = {key: there[key] for key in names if key in there}
        return [{"name": self.server_name, "version": version, "effective_settings": effective}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        return {self.server_name: without_secrets(self._settings()[1])}

    def probes(self) -> list[Probe]:
        return [_views().CassandraProbe(self.server_name, self.endpoint)]

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return {
            "kind": "cassandra",
            "address": self.endpoint.address(),
            "user": self.endpoint.user,
            "password": self.endpoint.secret(secrets),
            "keyspace": self.endpoint.database,
            "consistency": self.spec.settings.get("consistency", CONSISTENCY[0]),
        }


class Cassandra(CassandraServer):
    """A private node. Settings: `heap` (of Java, such as `2G`), `consistency`, and any scalar of cassandra.yaml."""

    name = "cassandra"
    what = "Cassandra, any setting of cassandra.yaml (commitlog_sync=batch, concurrent_reads=64 …)"
    own_settings: ClassVar[tuple[str, ...]] = ("heap", "consistency")
    levers: Mapping[str, str] = {"server-queue": "concurrent_reads=64", "compaction": "concurrent_compactors=4"}
    package = "cassandra@5.0"
    # There is no program to ask, only Java to start with all of these.
    layout = Layout(
        "home",
        {"cassandra": ("lib/apache-cassandra-[0-9]*.jar", "lib/cassandra-all-[0-9]*.jar")},
        re.compile(r"-(?P<version>\d.*)\.jar"),
        (),
        config=scalars(*RESERVED),
    )
    reserved = PRIVATE | RESERVED

    @classmethod
    def missing(cls) -> str | None:
        if reason := missing_driver() or missing_java():
            return reason
        package = PACKAGES[cls.package]
        return None if installed(package) else f"cassandra is not installed: {package.how_to_get_it}"

    def installation(self) -> Build | Installation | None:
        return self.build or installed(PACKAGES[self.spec.product if self.spec.version else self.package])

    def start(self, launch: Launch) -> None:
        if reason := missing_driver() or missing_java():
            raise UserError(f"{self.spec.label}: {reason}")
        self._directory = directory = PrivateDirectory(launch)
        port = self.new_port()
        directory.write("cassandra.yaml", self._configuration(port))
        directory.write("logback.xml", _LOGGING)
        has_login = "Password" in self.spec.settings.get("authenticator", "")
        login = _SUPERUSER if has_login else None
        self.endpoint = Endpoint("127.0.0.1", port, None, login, login, KEYSPACE)
        self._server = ServerProcess(self.server_name, self._command(directory.path, launch), directory, launch)
        # On SIGTERM it would write everything down first, and all of it goes away with its directory.
        self._server.stop_signal = signal.SIGKILL
        self._server.wait_ready(self.listens, START_TIMEOUT_S)
        self._server.wait_ready(self._has_keyspace, START_TIMEOUT_S)
        self._check_settings()

    def _configuration(self, port: int) -> str:
        """Return cassandra.yaml: one node that knows no other, and the settings that were given."""
        storage_port = free_port()
        settings = {
            "cluster_name": "dbdyno",
            "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
            "endpoint_snitch": "SimpleSnitch",
            "num_tokens": "16",
            "listen_address": "127.0.0.1",
            "rpc_address": "127.0.0.1",
            "storage_port": str(storage_port),
            "native_transport_port": str(port),
            # A dropped table would stay, as a snapshot.
            "auto_snapshot": "false",
            "commitlog_sync": "periodic",
            **self.server_settings,
        }
        if settings["commitlog_sync"] == "periodic":
            settings.setdefault("commitlog_sync_period", "10000ms")
        provider, seed = "org.apache.cassandra.locator.SimpleSeedProvider", f"127.0.0.1:{storage_port}"
        seeds = f'[{{class_name: {provider}, parameters: [{{seeds: "{seed}"}}]}}]'
        return "".join(f"{key}: {value}\n" for key, value in {**settings, "seed_provider": seeds}.items())

    def _command(self, directory: Path, launch: Launch) -> list[str]:
        installation = self.installation()
        assert installation is not None, "resolving refuses a system that is not installed"
        if isinstance(installation, Installation):
            installation.refuse_broken()
        libraries = installation.folder / "lib"
        heap = (
            self.spec.settings.get("heap") or f"{heap_mib(launch.memory_limit_bytes or psutil.virtual_memory().total)}M"
        )
        (agent,) = libraries.glob("jamm-*.jar")
        return [
            java() or "java",
            f"-Xms{heap}",
            f"-Xmx{heap}",
            f"-javaagent:{agent}",
            *OPTIONS,
            "-Dcassandra-foreground=yes",
            f"-Dcassandra.config=file://{directory}/cassandra.yaml",
            f"-Dcassandra.storagedir={directory}",
            f"-Dcassandra.logdir={directory}",
            f"-Dlogback.configurationFile={directory}/logback.xml",
            # There is no other node to wait for.
            "-Dcassandra.skip_wait_for_gossip_to_settle=0",
            "-Dcassandra.superuser_setup_delay_ms=0",
            # At its start it estimates the overhead of a row from 100,000 rows; these give the same number.
            "-Dcassandra.memtable_row_overhead_computation_step=1000",
            "-cp",
            f"{libraries}/*",
            "org.apache.cassandra.service.CassandraDaemon",
        ]

    def _has_keyspace(self) -> bool:
        """Make the keyspace, and return whether the server answered: it creates its own tables and user first."""
        try:
            self._ask(_creation(f"IF NOT EXISTS {KEYSPACE}"))
        except RunFailed:
            return False
        return True

    def _check_settings(self) -> None:
        """Raise UserError for a setting that is in force with another value than it was given."""
        _, there = self._settings()
        for key, value in self.server_settings.items():
            effective = there.get(key)
            if effective is not None and not is_accepted(effective, value):
                raise UserError(f"{self.spec.label}: {key}={value} was given, and the server has {effective}")

    def durability(self) -> Durability:
        return durability_of(self._settings()[1])


class AttachedCassandra(CassandraServer):
    """Somebody else's server or cluster: `cassandra://user:password@host:port/keyspace`.

    Setting: `consistency`. dbdyno makes no keyspace there: none can be dropped only if it is empty.
    """

    name = "cassandra"
    schemes = ("cassandra",)
    what = "any server of the CQL protocol: cassandra://user@host:9042/keyspace"

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        refuse_server_settings(spec, ("consistency",))
        address = endpoint_of(spec.url, 9042)
        keyspace = address.database
        if not keyspace:
            todo = f"name an existing one, cassandra://…/keyspace, or create it: {_creation(KEYSPACE)}"
            raise UserError(f"{spec.label}: the URL names no keyspace for dbdyno's tables; {todo}")
        if not keyspace.isidentifier() or keyspace != keyspace.lower():
            raise UserError(f"{spec.label}: a keyspace of small letters, digits and _ is needed, not '{keyspace}'")
        self.endpoint = Endpoint(address.host, address.port, None, address.user, address.password, keyspace)

    def attach(self) -> None:
        keyspace = self.endpoint.database
        where = f"keyspace_name = '{keyspace}'"
        try:
            (keyspaces,) = self._ask(f"SELECT keyspace_name FROM system_schema.keyspaces WHERE {where}")
        except RunFailed as error:
            message = str(error)
            if "redentials" in message or "uthentication" in message:
                message += f"; check the user and the password in the URL or in {PASSWORD_VARIABLE}"
                raise UserError(f"{self.spec.label}: {message}") from None
            raise Unreached(error) from None
        if not keyspaces:
            raise UserError(f"{self.spec.label}: there is no keyspace {keyspace}; create it: {_creation(keyspace)}")

    def durability(self) -> Durability:
        settings = self._settings()[1]
        if "commitlog_sync" not in settings:
            return Durability("unknown", "the server does not show its settings")
        return durability_of(settings)


def _creation(name: str) -> str:
    return f"CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"


def missing_driver() -> str | None:
    """Return how to get the driver that reads the server's settings, or None if it is there."""
    return None if find_spec("cassandra") else "cassandra-driver is not installed: pip install 'dbdyno[cassandra]'"


def _views() -> Any:
    # The driver takes a third of a second to load, which no other command should spend, and it may not be there.
    return import_module("dbdyno.systems.cassandra.probe")


def is_accepted(effective: str, given: str) -> bool:
    """Return whether the server has what was given; classes it names with their package."""
    wanted = given.strip().strip("'\"").lower()
    return effective.lower() == wanted or effective.lower().endswith("." + wanted)


def durability_of(settings: dict[str, str]) -> Durability:
    """Return what the settings in force promise of a write that one node has acknowledged."""
    sync = settings["commitlog_sync"]
    if sync == "periodic":
        return Durability(
            "D1", f"commitlog_sync=periodic: flushed every {settings.get('commitlog_sync_period', '10 s')}"
        )
    return Durability("D2", f"commitlog_sync={sync}")
