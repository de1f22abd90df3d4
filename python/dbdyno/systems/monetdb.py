"""MonetDB as a library (MonetDB/e)."""

from dbdyno.systems.base import Durability
from dbdyno.systems.library import Library


class MonetDB(Library):
    """A folder of MonetDB's."""

    name = "monetdb"
    what = "MonetDB, embedded, for whole tables (threads, memory_limit_mib)"
    analyst_module = "dbdyno.systems.monetdb_analyst"
    analyst_class = "MonetDBAnalyst"

    def durability(self) -> Durability:
        return Durability("D2", "MonetDB flushes its log at each commit")
