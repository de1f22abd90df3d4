"""LMDB, inside the load client."""

from typing import ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import SCAN
from dbdyno.systems.embedded.embedded import Settings
from dbdyno.systems.embedded.engine import Engine
from dbdyno.systems.space import Storage

BASE_MAP_BYTES = 1 << 30
MAP_BYTES_PER_ROW = 16_384
"""The map is address space, not memory nor disk: it is made far larger than any workload's rows need."""
LARGEST_PAGE_BYTES = 64 << 10
"""A map consists of whole pages of memory, which have 4, 16 or 64 KiB."""


class LMDB(Engine):
    """One environment. sync: `full`, `no-meta-sync` or `none`; map_size_bytes: by the number of rows if left out."""

    name = "lmdb"
    what = "LMDB, embedded (sync=full|no-meta-sync|none, map_size_bytes)"
    operations = Engine.operations | {SCAN}
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"sync": ("full", "no-meta-sync", "none")}
    numbers: ClassVar[dict[str, int]] = {"map_size_bytes": 0}
    levels: ClassVar[dict[str, str]] = {"full": "D2", "no-meta-sync": "D1", "none": "D0"}
    storage: ClassVar[Storage] = Storage(1.2)

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        if (size := int(spec.settings.get("map_size_bytes", 0))) % LARGEST_PAGE_BYTES:
            raise UserError(f"{spec.label}: map_size_bytes = {size}: give a multiple of {LARGEST_PAGE_BYTES}")

    def settings(self) -> Settings:
        settings = super().settings()
        pages = -(-self.rows * MAP_BYTES_PER_ROW // LARGEST_PAGE_BYTES)
        settings["map_size_bytes"] = settings["map_size_bytes"] or BASE_MAP_BYTES + pages * LARGEST_PAGE_BYTES
        return settings
