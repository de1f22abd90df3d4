"""The base of embedded engines, which keep values under keys: compiled in, or a library of the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from dbdyno.experiment.workloads import ADD, DELETE, FIND_UNIQUE, GET, GET_MANY, INCREMENT, INSERT, PUT, SUM, UPDATE
from dbdyno.systems.base import Durability
from dbdyno.systems.embedded.embedded import Embedded

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument


class Engine(Embedded):
    """An engine whose files are in a directory. A subclass only declares; `sync` is one of its `choices`.

    levels: the durability class of each value of `sync`.
    """

    operations = frozenset((GET, GET_MANY, UPDATE, ADD, INCREMENT, INSERT, FIND_UNIQUE, SUM, PUT, DELETE))
    levels: ClassVar[dict[str, str]]
    levers: Mapping[str, str] = {"commit": "sync=none"}

    def durability(self) -> Durability:
        sync = self.settings()["sync"]
        return Durability(self.levels[sync], f"sync={sync}")

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        del secrets
        return {"kind": self.name, "path": str(self.path), **self.settings()}
