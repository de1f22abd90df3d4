"""LMDB, inside the load client."""

from typing import Any, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import ADD, DELETE, FIND_UNIQUE, GET, GET_MANY, INSERT, PUT, SCAN, SUM, UPDATE
from dbdyno.systems.base import Durability
from dbdyno.systems.embedded.embedded import Embedded
from dbdyno.systems.space import Storage

BASE_MAP_BYTES = 1 << 30
MAP_BYTES_PER_ROW = 16_384
"""The map is address space, not memory nor disk: it is made far larger than any workload's rows need."""
LARGEST_PAGE_BYTES = 64 << 10
"""A map consists of whole pages of memory, which have 4, 16 or 64 KiB."""


class LMDB(Embedded):
    """One environment. sync: `full`, `no-meta-sync` or `none`; map_size_bytes: by the number of rows if left out."""

    name = "lmdb"
    what = "LMDB, embedded (sync=full|no-meta-sync|none, map_size_bytes)"
    operations = frozenset((GET, GET_MANY, UPDATE, ADD, INSERT, FIND_UNIQUE, SUM, PUT, DELETE, SCAN))
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"sync": ("full", "no-meta-sync", "none")}
    numbers: ClassVar[dict[str, int]] = {"map_size_bytes": 0}
    storage: ClassVar[Storage] = Storage(1.2)

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        if (size := int(spec.settings.get("map_size_bytes", 0))) % LARGEST_PAGE_BYTES:
            raise UserError(f"{spec.label}: map_size_bytes = {size}: give a multiple of {LARGEST_PAGE_BYTES}")

    def settings(self) -> dict[str, Any]:
        settings = super().settings()
        pages = -(-self.rows * MAP_BYTES_PER_ROW // LARGEST_PAGE_BYTES)
        settings["map_size_bytes"] = settings["map_size_bytes"] or BASE_MAP_BYTES + pages * LARGEST_PAGE_BYTES
        return settings

    def durability(self) -> Durability:
        sync = self.settings()["sync"]
        return Durability({"full": "D2", "no-meta-sync": "D1", "none": "D0"}[sync], f"sync={sync}")

    def store_plan(self, secrets: list[str]) -> dict[str, Any]:
        del secrets
        return {"kind": "lmdb", "path": str(self.path), **self.settings()}
