"""chDB: ClickHouse as a library."""

from dbdyno.systems.base import Durability
from dbdyno.systems.library import Library


class ChDB(Library):
    """A folder of MergeTree tables."""

    name = "chdb"
    what = "chDB, ClickHouse embedded, for whole tables (threads, memory_limit_mib)"
    analyst_module = "dbdyno.systems.chdb_analyst"
    analyst_class = "ChDBAnalyst"

    def durability(self) -> Durability:
        return Durability("D1", "fsync_after_insert=0: the kernel writes to the disk when it likes")
