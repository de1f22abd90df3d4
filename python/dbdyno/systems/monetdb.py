"""MonetDB as a library (MonetDB/e)."""

from typing import ClassVar

from dbdyno.systems.base import Durability
from dbdyno.systems.library import Library


class MonetDB(Library):
    """A folder of MonetDB's."""

    name = "monetdb"
    what = "MonetDB, embedded, for whole tables (threads, memory_limit_mib)"
    analyst_module = "dbdyno.systems.monetdb_analyst"
    analyst_class = "MonetDBAnalyst"
    table_share: ClassVar[float] = 0.8

    def durability(self) -> Durability:
        return Durability("D2", "MonetDB flushes its log at each commit")
