"""Cache-aside: read the cache, on a miss the store, filling the cache; write the store, removing the key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import FIND_UNIQUE, GET, GET_ELSEWHERE, INCREMENT, UPDATE
from dbdyno.systems.base import Durability, Launch, NamedProcess, System
from dbdyno.systems.memcached.memcached import MemcachedServer
from dbdyno.systems.probe import Probe
from dbdyno.systems.redis.redis import RedisServer
from dbdyno.systems.running.kept_data import KeptData
from dbdyno.systems.space import Space

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import OriginStated, ServerStated


class Fronted(System):
    """A store with caches in front of it, each its own system: what arrangements of these have in common."""

    operations = frozenset((GET, UPDATE, FIND_UNIQUE))
    takes_parts = True
    can_keep = True

    def __init__(self, spec: SystemSpec, caches: list[System], store: System) -> None:
        """Take the arrangement and its systems; raises UserError if the store cannot be one."""
        super().__init__(spec)
        self.caches, self.store = caches, store
        if isinstance(store, Fronted):
            raise UserError(f"{spec.label}: the store of an arrangement cannot be an arrangement")
        if store.embedded:
            raise UserError(
                f"{spec.label}: '{store.name}' runs inside the load client, whose threads cannot wait for a cache: "
                "put the cache in front of a server"
            )
        if GET_ELSEWHERE in store.operations:
            raise UserError(
                f"{spec.label}: '{store.name}' divides the clients among its nodes, which cannot be behind a cache: "
                "put the cache in front of one server"
            )
        for cache in caches:
            if isinstance(cache, MemcachedServer):
                cache.cache = True
        if store.name in (cache.name for cache in caches):
            store.server_name = f"{store.name}-store"

    @property
    def parts(self) -> list[System]:
        """All its systems, the store last."""
        return [*self.caches, self.store]

    def start(self, launch: Launch) -> None:
        for cache in self.caches:
            cache.start(replace(launch, data=None))
        self.store.start(launch)

    def private_servers(self) -> list[System]:
        return [server for part in self.parts for server in part.private_servers()]

    def stop(self) -> None:
        for part in self.parts:
            part.stop()

    @property
    def restorable(self) -> bool:
        return self.store.restorable and not self.spec.attached

    def keep(self) -> KeptData:
        # A cache begins empty, so there is nothing of it to keep.
        for cache in self.caches:
            cache.stop()
        return self.store.keep()

    def space(self, records: float, data_bytes: float) -> Space:
        return sum((part.space(records, data_bytes) for part in self.parts), Space())

    def cache_state(self, restored: bool) -> str | None:
        return self.store.cache_state(restored)

    def server_pids(self) -> dict[str, int]:
        return {name: pid for part in self.parts for name, pid in part.server_pids().items()}

    def named_processes(self) -> dict[str, NamedProcess]:
        return {name: process for part in self.parts for name, process in part.named_processes().items()}

    def addresses(self) -> dict[str, tuple[str, int]]:
        return {name: address for part in self.parts for name, address in part.addresses().items()}

    def sockets(self) -> dict[str, str]:
        return {name: path for part in self.parts for name, path in part.sockets().items()}

    def origins(self) -> dict[str, OriginStated]:
        return {name: origin for part in self.parts for name, origin in part.origins().items()}

    def started_with(self) -> dict[str, list[str]]:
        return {name: argv for part in self.parts for name, argv in part.started_with().items()}

    def forking(self) -> frozenset[str]:
        return frozenset(name for part in self.parts for name in part.forking())

    def data_directories(self) -> tuple[Path, ...]:
        return self.store.data_directories()

    def probes(self) -> list[Probe]:
        return [probe for part in self.parts for probe in part.probes()]

    def death(self) -> str | None:
        return next(filter(None, (part.death() for part in self.parts)), None)

    def replaced(self) -> str | None:
        return next(filter(None, (part.replaced() for part in self.parts)), None)

    def servers(self) -> list[ServerStated]:
        return [server for part in self.parts for server in part.servers()]

    def all_settings(self) -> dict[str, dict[str, str]]:
        return {name: settings for part in self.parts for name, settings in part.all_settings().items()}

    def durability(self) -> Durability:
        return self.store.durability()

    def cautions(self) -> list[str]:
        return [sentence for part in self.parts for sentence in part.cautions()]

    def counters(self) -> dict[str, dict[str, int]]:
        return {name: counted for part in self.parts for name, counted in part.counters().items()}


class CacheAside(Fronted):
    """A cache in front of a store, both systems of their own: `cache-aside(memcached, mariadb)`."""

    name = "cache-aside"
    what = "a cache in front of a store: cache-aside(memcached?memory=64, mariadb)"

    @classmethod
    def made_of(cls, spec: SystemSpec, parts: list[System]) -> System:
        return cls(spec, parts)

    def __init__(self, spec: SystemSpec, parts: list[System]) -> None:
        """Take the arrangement and its two systems; raises UserError if they cannot be what they are to be."""
        if len(parts) != 2:
            raise UserError(
                f"{spec.label}: cache-aside takes a cache and a store, e.g. cache-aside(memcached, mariadb)"
            )
        super().__init__(spec, parts[:1], parts[1])
        self.operations = self.operations | ({INCREMENT} & self.store.operations)
        (self.cache,) = self.caches
        if not isinstance(self.cache, MemcachedServer | RedisServer):
            raise UserError(f"{spec.label}: '{self.cache.name}' cannot be the cache; memcached and redis can")
        if spec.settings:
            raise UserError(
                f"{spec.label}: settings belong to a part, cache-aside(memcached?memory=64, mariadb), not to the whole"
            )

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return {
            "kind": "cache-aside",
            "cache": self.cache.store_plan(secrets),
            "store": self.store.store_plan(secrets),
        }
