"""memcached, started privately, or any server of its protocol attached by URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dbdyno.errors import UserError, did_you_mean
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import DELETE, EXPIRE, FIND_UNIQUE, GET, GET_MANY, INCREMENT, PUT, UPDATE
from dbdyno.later import LaterModule
from dbdyno.systems.actions import OUTAGES
from dbdyno.systems.answers import Answer
from dbdyno.systems.base import Durability, Launch, Room, numbers_of
from dbdyno.systems.builds.config import options
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.memcached.probe import MemcachedProbe
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import CONNECT_TIMEOUT_S, Endpoint, Unreached, endpoint_of, refuse_server_settings
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess, find_program
from dbdyno.systems.running.server import Server
from dbdyno.systems.settings import PRIVATE, check, without_secrets
from dbdyno.systems.space import Space, Storage

if TYPE_CHECKING:
    import pymemcache

    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import ServerStated
else:
    pymemcache = LaterModule("pymemcache")

FLAGS = {
    "memory": "-m",
    "threads": "-t",
    "connections": "-c",
    "item_size_max": "-I",
    "growth_factor": "-f",
    "extended": "-o",
}
"""Settings, and memcached's option for each. memory: MiB; extended: anything that goes after `-o`."""
OWN_OPTIONS = {
    **{"-p": "port", "-U": "udp_port", "-l": "listen", "-s": "socket", "-a": "socket_mode", "-u": "user"},
    **{
        "-d": "daemon",
        "-P": "pid_file",
        "logfile": "logfile",
        "-M": "refuse_when_full",
        "-S": "sasl",
        "-Z": "encryption",
    },
}
"""Options of a file that are dbdyno's own to give, and a name for each."""
DEFAULT_MEMORY_MIB = 64
SHOWN_AS = {
    "memory": "maxbytes",
    "threads": "num_threads",
    "connections": "maxconns",
    "item_size_max": "item_size_max",
    "growth_factor": "growth_factor",
}
"""Settings, and what memcached calls them in `stats settings`."""
BYTES_PER_ROW = 32_768
"""Room for a row of each of a workload's tables, for a memcached that is no cache but the store. Generous, as memory is
taken when it is needed; the rows of `twitter-37` have 20 kB."""
COUNTERS = (
    "cmd_get",
    "cmd_set",
    "get_hits",
    "get_misses",
    "delete_hits",
    "evictions",
    "curr_items",
    "bytes",
    "bytes_read",
    "bytes_written",
    "total_connections",
)


class MemcachedServer(Server):
    """A server of the memcached protocol. cache: True in front of a store."""

    protocol: ClassVar[str] = "memcached"
    operations = frozenset((GET, GET_MANY, UPDATE, INCREMENT, FIND_UNIQUE, PUT, DELETE, EXPIRE))
    libraries: ClassVar[tuple[str, ...]] = ("pymemcache",)
    cache = False
    pipelines = True
    driver_modules = ("pymemcache",)

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        return (OSError, pymemcache.MemcacheError)

    def _in_force(self) -> dict[str, str]:
        return {key: _text(value) for key, value in self._stats("settings").items()}

    def _stats(self, *arguments: str) -> Answer:
        client = pymemcache.Client(self._address(), connect_timeout=CONNECT_TIMEOUT_S, timeout=CONNECT_TIMEOUT_S)
        try:
            return {key.decode(): value for key, value in client.stats(*arguments).items()}
        finally:
            client.close()

    def _address(self) -> str | tuple[str, int]:
        return self.endpoint.socket or (self.endpoint.host, self.endpoint.port)

    def servers(self) -> list[ServerStated]:
        wanted = (*SHOWN_AS.values(), "evictions")
        with self.asking():
            settings, general = self._in_force(), self._stats()
        effective = {key: settings[key] for key in wanted if key in settings} | self.endpoint.effective_settings()
        version = _text(general.get("version", ""))
        return [{"name": self.server_name, "version": version, "effective_settings": effective}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        with self.asking():
            return {self.server_name: without_secrets(self._in_force())}

    def counters(self) -> dict[str, dict[str, int]]:
        with self.asking():
            return {self.server_name: numbers_of(self._stats(), COUNTERS)}

    def probes(self) -> list[Probe]:
        return [MemcachedProbe(self.server_name, self._address())]

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        del secrets
        return {"kind": "memcached", "address": self.endpoint.address()}


class Memcached(MemcachedServer):
    """A private memcached. Settings: those of FLAGS, and `connect` (`tcp` or `socket`).

    cache: True in front of a store. Alone it must hold every row, so it is given room for them, and refuses what no
    longer fits instead of forgetting another row.
    """

    name = "memcached"
    what = "memcached, a cache in memory (memory=MiB, threads=…)"
    room: ClassVar[Mapping[str, Room]] = {"memory": Room(1 << 20, 1.2)}
    storage: ClassVar[Storage] = Storage(1.1, 110, in_memory=True)
    can_crash = True
    serves_hosts = True
    actions = OUTAGES
    layout = Layout(
        "binary",
        beside("memcached"),
        re.compile(r"memcached (?P<version>\d\S*)"),
        ("-V",),
        config=options({option: name for name, option in FLAGS.items()} | OWN_OPTIONS),
    )
    reserved = PRIVATE | frozenset(OWN_OPTIONS.values())
    levers: Mapping[str, str] = {"server-thread": "threads=8"}

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self._check_settings()

    def _check_settings(self) -> None:
        accepted = (*FLAGS, "connect")
        for key in self.server_settings:
            if key not in accepted:
                hint = did_you_mean(key, accepted)
                raise UserError(f"{self.spec.label}: no setting '{key}'{hint} There are {', '.join(accepted)}.")
        memory = self.spec.settings.get("memory", "1")
        if not memory.endswith("%") and not re.fullmatch(r"[0-9]{1,9}", memory):
            raise UserError(f"{self.spec.label}: memory = '{memory}': give whole MiB, or a share of the data as in 25%")

    @classmethod
    def missing(cls) -> str | None:
        return None if find_program("memcached") else "memcached is not installed: apt install memcached"

    def start(self, launch: Launch) -> None:
        self._directory = directory = PrivateDirectory(launch)
        if self.on_socket:
            self.endpoint = Endpoint(socket=str(directory.socket_path()))
            where = ["-s", self.endpoint.socket or ""]
        else:
            self.endpoint = Endpoint(launch.address, self.new_port(launch.address))
            where = ["-l", launch.address, "-p", str(self.endpoint.port)]
        argv = [*self.program("memcached"), *where, *self._options(launch)]
        self._run = lambda: ServerProcess(self.server_name, argv, directory, launch)
        self._server = self._run()
        self._server.wait_ready(self._answers)
        check(self.spec.label, self._given(), self._in_force())

    def space(self, records: float, data_bytes: float) -> Space:
        needed = super().space(records, data_bytes)
        if not self.cache:
            return needed
        memory_mib = int(self.spec.settings.get("memory", DEFAULT_MEMORY_MIB))
        return Space(memory_bytes=min(needed.memory_bytes, memory_mib << 20))

    def _given(self) -> dict[str, str]:
        """Return the settings under the names that memcached shows them by."""
        given = {SHOWN_AS[key]: value for key, value in self.spec.settings.items() if key in SHOWN_AS}
        if "memory" in self.spec.settings:
            given["maxbytes"] += "m"
        pairs = (option.split("=", 1) for option in self.spec.settings.get("extended", "").split(",") if "=" in option)
        return given | dict(pairs)

    def _options(self, launch: Launch) -> list[str]:
        memory_mib = DEFAULT_MEMORY_MIB
        if not self.cache:
            memory_mib = max(memory_mib, launch.rows * BYTES_PER_ROW >> 20)
        settings = {"memory": str(memory_mib), "connections": str(max(1024, launch.clients + 64))}
        settings |= {key: value for key, value in self.spec.settings.items() if key in FLAGS}
        options = [word for key, value in settings.items() for word in (FLAGS[key], value)]
        return options if self.cache else [*options, "-M"]

    def _answers(self) -> bool:
        try:
            return bool(self._stats())
        except self.driver_errors:
            return False

    def durability(self) -> Durability:
        return Durability("D0", "memcached keeps everything in memory")


class AttachedMemcached(MemcachedServer):
    """Somebody else's server of the memcached protocol: `memcached://host:port`."""

    name = "memcached"
    schemes = ("memcached",)
    what = "any server of the memcached protocol: memcached://host:11211"

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        refuse_server_settings(spec, ("socket",))
        self.endpoint = endpoint_of(spec.url, 11211)

    def attach(self) -> None:
        try:
            self._stats()
        except self.driver_errors as error:
            raise Unreached(error) from None

    def durability(self) -> Durability:
        return Durability("unknown", "a server of the memcached protocol does not tell what it keeps")


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
