"""Cache-aside: read the cache, on a miss the store, filling the cache; write the store, removing the key."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import FIND_UNIQUE, GET, UPDATE
from dbdyno.systems.base import Durability, Launch, System
from dbdyno.systems.memcached import Memcached
from dbdyno.systems.probe import Probe
from dbdyno.systems.redis import Redis


class CacheAside(System):
    """A cache in front of a store, both systems of their own: `cache-aside(memcached, mariadb)`."""

    name = "cache-aside"
    what = "a cache in front of a store: cache-aside(memcached?memory=64, mariadb)"
    operations = frozenset((GET, UPDATE, FIND_UNIQUE))

    def __init__(self, spec: SystemSpec, parts: list[System]) -> None:
        """Take the arrangement and its two systems; raises UserError if they cannot be what they are to be."""
        super().__init__(spec)
        if len(parts) != 2:
            raise UserError(
                f"{spec.label}: cache-aside takes a cache and a store, e.g. cache-aside(memcached, mariadb)"
            )
        self.cache, self.store = parts
        if not isinstance(self.cache, Memcached | Redis):
            raise UserError(f"{spec.label}: '{self.cache.name}' cannot be the cache; memcached and redis can")
        if isinstance(self.store, CacheAside):
            raise UserError(f"{spec.label}: the store of an arrangement cannot be an arrangement")
        if self.store.embedded:
            raise UserError(
                f"{spec.label}: '{self.store.name}' runs inside the load client, a thread a client, where nothing can "
                "wait for a cache: put the cache in front of a server"
            )
        if spec.settings:
            raise UserError(
                f"{spec.label}: settings belong to a part, cache-aside(memcached?memory=64, mariadb), not to the whole"
            )
        if isinstance(self.cache, Memcached):
            self.cache.cache = True
        if self.cache.name == self.store.name:
            self.store.server_name = f"{self.store.name}-store"

    def start(self, launch: Launch) -> None:
        self.cache.start(replace(launch, data=None))
        self.store.start(launch)

    def stop(self) -> None:
        self.cache.stop()
        self.store.stop()

    @property
    def restorable(self) -> bool:
        return self.store.restorable and not self.spec.attached

    def keep(self) -> Path:
        # The cache begins empty, so there is nothing of it to keep.
        self.cache.stop()
        return self.store.keep()

    def cache_state(self, restored: bool) -> str | None:
        return self.store.cache_state(restored)

    def server_pids(self) -> dict[str, int]:
        return self.cache.server_pids() | self.store.server_pids()

    def started_with(self) -> dict[str, list[str]]:
        return self.cache.started_with() | self.store.started_with()

    def forking(self) -> frozenset[str]:
        return self.cache.forking() | self.store.forking()

    def data_directories(self) -> tuple[Path, ...]:
        return self.store.data_directories()

    def probes(self) -> list[Probe]:
        return self.cache.probes() + self.store.probes()

    def death(self) -> str | None:
        return self.cache.death() or self.store.death()

    def servers(self) -> list[dict[str, Any]]:
        return self.cache.servers() + self.store.servers()

    def all_settings(self) -> dict[str, dict[str, str]]:
        return self.cache.all_settings() | self.store.all_settings()

    def durability(self) -> Durability:
        return self.store.durability()

    def counters(self) -> dict[str, dict[str, int]]:
        return self.cache.counters() | self.store.counters()

    def store_plan(self, secrets: list[str]) -> dict[str, Any]:
        return {
            "kind": "cache-aside",
            "cache": self.cache.store_plan(secrets),
            "store": self.store.store_plan(secrets),
        }
