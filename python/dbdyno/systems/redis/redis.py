"""Redis, started privately with any directive of redis.conf, or attached by URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.password import VARIABLE as PASSWORD_VARIABLE
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import (
    ADD,
    DELETE,
    EXPIRE,
    FIND_UNIQUE,
    GET,
    GET_MANY,
    INCREMENT,
    INSERT,
    PUT,
    SUM,
    UPDATE,
)
from dbdyno.later import LaterModule
from dbdyno.systems.actions import OUTAGES
from dbdyno.systems.answers import Answer
from dbdyno.systems.base import Durability, Launch, numbers_of
from dbdyno.systems.builds.config import directives
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.probe import ANSWER_TIMEOUT_S, Probe
from dbdyno.systems.redis.probe import RedisProbe
from dbdyno.systems.running.endpoint import (
    CONNECT_TIMEOUT_S,
    Endpoint,
    Unreached,
    endpoint_of,
    refuse_server_settings,
)
from dbdyno.systems.running.kept_data import KeptData
from dbdyno.systems.running.password import random_password
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess, find_program, run_to_end
from dbdyno.systems.running.server import Server
from dbdyno.systems.running.tls import ATTACHED_SETTINGS, attached_tls, hint, make_certificate
from dbdyno.systems.settings import BINARY, PRIVATE, check, without_secrets
from dbdyno.systems.space import Space, Storage

if TYPE_CHECKING:
    import redis

    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import ServerStated
else:
    redis = LaterModule("redis")

DIRECTIVES = ("appendonly", "appendfsync", "save", "maxmemory", "maxmemory-policy", "io-threads", "maxclients")
"""Directives that decide what a benchmark measures; read beside those the person gave."""
COUNTERS = (
    "total_commands_processed",
    "total_connections_received",
    "total_net_input_bytes",
    "total_net_output_bytes",
    "keyspace_hits",
    "keyspace_misses",
    "evicted_keys",
    "expired_keys",
    "used_memory",
    "total_error_replies",
)
UNABLE = {
    "auto": frozenset[str](),
    # A row is one value: no column of it can be added to, or read alone.
    "string": frozenset((ADD, SUM)),
    # MGET has values alone, and no fields of hashes; no command makes a hash only if there is none, or one that
    # expires.
    "hash": frozenset((GET_MANY, INSERT, EXPIRE)),
}
"""Operations that each layout lacks; `auto` means hashes if a workload adds to columns, else strings."""
SCALES = BINARY | {"k": 10**3, "m": 10**6, "g": 10**9}
"""Redis takes `1k` for a thousand and `1kb` for 1,024."""
RESERVED = frozenset(
    (
        *("tls_port", "tls_cert_file", "tls_key_file", "tls_key_file_pass", "tls_auth_clients", "unixsocketperm"),
        *("include", "aclfile", "protected_mode", "rename_command", "daemonize", "supervised", "logfile"),
    )
)
"""Directives that say where the server is, who gets in and what belongs to its configuration."""


class RedisServer(Server):
    """A server of the Redis protocol. Setting of its clients: `layout`."""

    protocol: ClassVar[str] = "Redis"
    operations = frozenset((GET, GET_MANY, UPDATE, ADD, INCREMENT, INSERT, FIND_UNIQUE, SUM, PUT, DELETE, EXPIRE))
    libraries: ClassVar[tuple[str, ...]] = ("redis-py",)
    driver_modules = ("redis",)
    pipelines = True

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        return (redis.RedisError,)

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.check_choice("layout", tuple(UNABLE))
        self.operations = self.operations - UNABLE[spec.settings.get("layout", "auto")]

    @classmethod
    def libraries_for(cls, settings: Mapping[str, str]) -> tuple[str, ...]:
        return () if "tls" in settings else cls.libraries

    def why_one_at_a_time(self) -> str | None:
        is_hash = self.spec.settings.get("layout") == "hash"
        return "keeps rows as hashes: give layout=string" if is_hash else super().why_one_at_a_time()

    def _client(self, timeout_s: float = CONNECT_TIMEOUT_S) -> redis.Redis:
        endpoint = self.endpoint
        return redis.Redis(
            host=endpoint.host,
            port=endpoint.port,
            unix_socket_path=endpoint.socket,
            username=endpoint.user,
            password=endpoint.password,
            **(endpoint.tls.redis() if endpoint.tls else {}),
            db=int(endpoint.database or 0),
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            decode_responses=True,
            # Two, for servers older than 6; and no word about the client library, which they would refuse.
            protocol=2,
            driver_info=None,
            # By default it tries for seconds; while a server starts, whoever asks tries again much sooner.
            retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0),
        )

    def _configuration(self) -> dict[str, str] | None:
        """Return the configuration in force, or None if the server does not show it (hosted ones often do not)."""
        with self.asking():
            try:
                configuration: Any = self._client().config_get("*")
            except redis.ResponseError:
                return None
            return dict(configuration)

    def _info(self) -> Answer:
        with self.asking():
            info: Any = self._client().info()
            return dict(info)

    def servers(self) -> list[ServerStated]:
        configuration = self._configuration() or {}
        wanted = (*DIRECTIVES, *sorted(set(self.spec.settings) - set(DIRECTIVES)))
        effective = {
            key: configuration[key] for key in wanted if key in configuration
        } | self.endpoint.effective_settings()
        if self.endpoint.tls:
            effective["tls"] = "on"
        # Valkey says both: its own version, and which Redis it still is to clients.
        info = self._info()
        version = info.get("valkey_version", info.get("redis_version"))
        return [{"name": self.server_name, "version": version, "effective_settings": effective}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        return {self.server_name: without_secrets(self._configuration() or {})}

    def durability(self) -> Durability:
        configuration = self._configuration()
        if configuration is None:
            return Durability("unknown", "the server does not let its configuration be read")
        return durability_of(configuration)

    def counters(self) -> dict[str, dict[str, int]]:
        return {self.server_name: numbers_of(self._info(), COUNTERS)}

    def probes(self) -> list[Probe]:
        return [RedisProbe(self.server_name, self._client(ANSWER_TIMEOUT_S))]

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return {
            "kind": "redis",
            "address": self.endpoint.address(),
            "user": self.endpoint.user,
            "password": self.endpoint.secret(secrets),
            "database": int(self.endpoint.database or 0),
            "layout": self.spec.settings.get("layout", "auto"),
            "tls": self.endpoint.encryption(),
        }


class Redis(RedisServer):
    """A private Redis server. Settings: `layout`, `connect` (`tcp` or `socket`), `tls`, any directive of redis.conf."""

    name = "redis"
    what = "Redis, any directive of redis.conf (appendonly=yes, appendfsync=always, save=60 1 …)"
    own_settings: ClassVar[tuple[str, ...]] = ("layout", "connect", "tls")
    storage: ClassVar[Storage] = Storage(1.1, 110, in_memory=True)
    server_program = "redis-server"
    reserved = PRIVATE | RESERVED
    log_checker = "redis-check-aof"
    layout = Layout("binary", beside("redis-server"), re.compile(r"Redis server v=(?P<version>\S+)"), config=directives)
    can_crash = True
    serves_hosts = True
    levers: Mapping[str, str] = {
        "server-thread": "io-threads=4",
        "commit": "appendfsync=everysec",
        "connections": "maxclients=10000",
    }
    actions = OUTAGES
    can_keep = True

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.check_tls()

    @classmethod
    def missing(cls) -> str | None:
        return None if find_program("redis-server") else "redis-server is not installed: apt install redis-server"

    def start(self, launch: Launch) -> None:
        self._directory = directory = PrivateDirectory(launch)
        password = random_password()
        port = self.new_port(launch.address)
        socket = directory.socket_path()
        certificate, key, tls = make_certificate(directory) if self.encrypts else ("", "", None)
        encrypted = ["port 0", f"tls-port {port}", f'tls-cert-file "{certificate}"', f'tls-key-file "{key}"']
        # The configuration goes in on stdin, so that the password is in no file and no process list.
        configuration = [
            f"bind {launch.address}",
            *([*encrypted, "tls-auth-clients no"] if tls else [f"port {port}"]),
            f'unixsocket "{socket}"',
            f'dir "{directory.path}"',
            f"requirepass {password}",
            f"maxclients {max(10_000, launch.clients + 100)}",
            *([] if "save" in self.spec.settings else ['save ""']),
            *(f"{key} {value}" for key, value in self.server_settings.items()),
        ]
        argv = [*self.program(self.server_program), "-"]
        stdin = "\n".join(configuration) + "\n"
        self._run = lambda: ServerProcess(self.server_name, argv, directory, launch, stdin)
        self._server = self._run()
        path = str(socket) if self.on_socket else None
        self.endpoint = Endpoint(launch.address, port, path, None, password, "0", tls)
        self._server.wait_ready(self._answers)
        given = {key.lower(): value for key, value in self.server_settings.items()}
        check(self.spec.label, given, self._configuration() or {}, SCALES)

    def space(self, records: float, data_bytes: float) -> Space:
        needed = super().space(records, data_bytes)
        written = needed.memory_bytes if self.spec.settings.get("appendonly") == "yes" else 0
        return needed + Space(disk_bytes=written)

    def keep(self) -> KeptData:
        with self.asking():
            # A server without save points writes nothing down when it ends.
            self._client().config_set("save", "3600 1")
        return super().keep()

    def repair(self) -> str | None:
        """Cut the append-only file off where it stops making sense.

        A file that merely ends too early Redis cuts off by itself. After a power cut it can also hold zeros, where the
        file system knew the file's length and not yet its blocks, and then Redis asks for this command.
        """
        folder = self.directory.path
        logs = [*folder.rglob("*.aof")]
        if not logs:
            return None
        written_last = max(logs, key=lambda path: path.stat().st_mtime_ns)
        self.process.stop()
        # The server is its own checker, called by another name: not every package has a link to it.
        server = self.program(self.server_program)[-1]
        checker = folder / self.log_checker
        checker.unlink(missing_ok=True)
        checker.symlink_to(server)
        try:
            run_to_end([str(checker), "--fix", str(written_last)], folder, self.process.log_path, "y\n")
        except UserError:
            return None
        return f"{self.log_checker} --fix"

    def cache_state(self, restored: bool) -> str | None:
        # It answers only when it has read everything back into memory.
        return "hot"

    def _answers(self) -> bool:
        try:
            return bool(self._client().ping())
        except redis.RedisError:
            return False


class AttachedRedis(RedisServer):
    """Somebody else's Redis: `redis://:password@host:port/0`; `rediss://`, as redis-py has it, with `tls=verify`."""

    name = "redis"
    schemes = ("redis", "rediss")
    what = "any Redis server, rediss:// over TLS: redis://:***@host:6379/0"
    own_settings: ClassVar[tuple[str, ...]] = ("layout", *ATTACHED_SETTINGS)

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        refuse_server_settings(spec, (*self.own_settings, "socket"))
        self.endpoint = replace(endpoint_of(spec.url, 6379), tls=attached_tls(_as_redis(spec)))
        if not (self.endpoint.database or "0").isdecimal():
            raise UserError(f"{spec.label}: a database of Redis is a number, redis://…/0")

    def cautions(self) -> list[str]:
        # Not from its configuration, which hosted servers do not show.
        info = self._info()
        policy, most_bytes = info.get("maxmemory_policy", "noeviction"), info.get("maxmemory", 0)
        if not most_bytes or policy == "noeviction":
            return []
        which = "keys" if policy.startswith("allkeys") else "keys with a time to live"
        full = f"its maxmemory of {most_bytes:,} bytes is full (maxmemory-policy={policy})"
        return [f"evicts {which} when {full}: loading rows may evict keys of yours"]

    def attach(self) -> None:
        try:
            self._client().ping()
        except (redis.AuthenticationError, redis.ResponseError) as error:
            raise UserError(
                f"{self.spec.label}: {error}; check the user and the password in the URL or in {PASSWORD_VARIABLE}"
            ) from None
        except redis.RedisError as error:
            if todo := hint(str(error)):
                raise UserError(f"{self.spec.label}: {error}; {todo}") from None
            raise Unreached(error) from None


def _as_redis(spec: SystemSpec) -> SystemSpec:
    """Return a URL of the scheme `rediss` with the setting that it stands for; raises UserError if it has another."""
    if spec.url is None or spec.url.scheme != "rediss":
        return spec
    if spec.settings.get("tls") == "off":
        raise UserError(f"{spec.label}: rediss:// is Redis over TLS: leave tls=off out, or say redis://")
    return replace(spec, settings={"tls": "verify", **spec.settings})


def durability_of(configuration: dict[str, str]) -> Durability:
    """Return what the settings in force promise of an acknowledged write."""
    if configuration.get("appendonly") == "yes":
        fsync = configuration.get("appendfsync", "everysec")
        level = {"always": "D2", "everysec": "D1", "no": "D0"}[fsync]
        return Durability(level, f"appendonly=yes appendfsync={fsync}")
    if save := configuration.get("save"):
        return Durability("D1", f"appendonly=no save={save}")
    return Durability("D0", "appendonly=no, no save points")
