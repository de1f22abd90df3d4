"""chDB: ClickHouse as a library."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from dbdyno.systems.analytic.library import Library, in_mebibytes
from dbdyno.systems.base import Durability


class ChDB(Library):
    """A folder of MergeTree tables."""

    name = "chdb"
    package = "chdb"
    what = "chDB, ClickHouse embedded, for whole tables (threads, memory_limit_mib)"
    settings_query = "SELECT name, value FROM system.settings"
    shown_as: ClassVar[Mapping[str, tuple[str, Callable[[str], str]]]] = {
        "threads": ("max_threads", str),
        "memory_limit_mib": ("max_memory_usage", in_mebibytes),
    }
    analyst_module = "dbdyno.systems.analytic.chdb_analyst"
    analyst_class = "ChDBAnalyst"

    def durability(self) -> Durability:
        return Durability("D1", "fsync_after_insert=0: the kernel decides when to write to the disk")
