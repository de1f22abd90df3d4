"""A pool of nodes that keeps results of queries, by the text of the query, in front of a database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec, bare_name
from dbdyno.experiment.workloads import SUM_RANGE
from dbdyno.systems.arrangements.cache_aside import Fronted
from dbdyno.systems.base import System
from dbdyno.systems.memcached.memcached import MemcachedServer
from dbdyno.systems.redis.redis import RedisServer

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject, StoreDocument


class ResultCache(Fronted):
    """Nodes of memcached or Redis in front of a store: `result-cache(memcached*3, mariadb)`.

    Consistent hashing says which node has a query. Settings: `expire_s`, for how long a result is kept (without it,
    until its row is changed); `leaves_s` or `joins_s`, when the last node leaves or joins, from the load's begin on;
    `weights`, one for each node, as in `1:1:2`.
    """

    name = "result-cache"
    what = "a pool of nodes that keep results of a store: result-cache(memcached*3, mariadb)"
    settings: ClassVar[dict[str, Callable[[str], float]]] = {"expire_s": int, "leaves_s": float, "joins_s": float}

    @classmethod
    def made_of(cls, spec: SystemSpec, parts: list[System]) -> System:
        return cls(spec, parts)

    def __init__(self, spec: SystemSpec, parts: list[System]) -> None:
        """Take the arrangement and its systems; raises UserError if they cannot be what they are to be."""
        if len(parts) < 2 or not all(isinstance(node, MemcachedServer | RedisServer) for node in parts[:-1]):
            raise UserError(
                f"{spec.label}: result-cache takes nodes of memcached or Redis and a store, e.g. "
                "result-cache(memcached*3, mariadb)"
            )
        super().__init__(spec, parts[:-1], parts[-1])
        self.operations = self.operations | ({SUM_RANGE} & self.store.operations)
        self._refuse_twice()
        self._given = {key: self._read(key, value) for key, value in spec.settings.items() if key != "weights"}
        self._weights = self._read_weights(spec.settings.get("weights", ":".join("1" for _ in self.caches)))
        if {"leaves_s", "joins_s"} <= self._given.keys():
            raise UserError(f"{spec.label}: a node leaves or joins: give leaves_s or joins_s")
        if {"leaves_s", "joins_s"} & self._given.keys() and len(self.caches) < 2:
            raise UserError(f"{spec.label}: one node is the whole pool; give memcached*2 or more")
        for number, node in enumerate(self.caches, 1):
            node.server_name = f"{node.name}-{number}"

    def _refuse_twice(self) -> None:
        attached = [bare_name(node.spec) for node in self.caches if node.spec.url]
        for name in attached:
            if attached.count(name) > 1:
                raise UserError(f"{self.spec.label}: '{name}' is a node twice: give each server once")

    def _read(self, key: str, value: str) -> float:
        if key not in self.settings:
            raise UserError(f"{self.spec.label}: no setting '{key}'; there are {', '.join(self.settings)} and weights")
        try:
            number = self.settings[key](value)
        except ValueError:
            number = -1
        if number < 0:
            raise UserError(f"{self.spec.label}: {key} = '{value}': give seconds, e.g. {key}=10")
        return number

    def _read_weights(self, value: str) -> list[int]:
        weights = [int(weight) for weight in value.split(":") if weight.isdecimal() and int(weight) > 0]
        if len(weights) != len(self.caches):
            raise UserError(f"{self.spec.label}: weights = '{value}': give one of each node, above 0, as in 1:1:2")
        return weights

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        def planned(node: System, weight: int) -> JsonObject:
            # The results on a server that is somebody else's are claimed, and removed after the run.
            attached = {"attached": True} if node.spec.attached else {}
            return {**node.store_plan(secrets), "weight": weight, **attached}

        return {
            "kind": "result-cache",
            "nodes": [planned(node, weight) for node, weight in zip(self.caches, self._weights, strict=True)],
            "store": self.store.store_plan(secrets),
            **self._given,
        }
