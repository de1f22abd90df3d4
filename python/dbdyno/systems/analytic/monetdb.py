"""MonetDB as a library (MonetDB/e)."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from dbdyno.systems.analytic.library import Library, in_mebibytes
from dbdyno.systems.base import Durability


class MonetDB(Library):
    """A folder of MonetDB's. How many threads it uses it shows nobody."""

    name = "monetdb"
    package = "monetdb"
    what = "MonetDB, embedded, for whole tables (threads, memory_limit_mib)"
    settings_query = "SELECT name, value FROM sys.environment"
    shown_as: ClassVar[Mapping[str, tuple[str, Callable[[str], str]]]] = {
        "memory_limit_mib": ("gdk_vm_maxsize", in_mebibytes)
    }
    analyst_module = "dbdyno.systems.analytic.monetdb_analyst"
    analyst_class = "MonetDBAnalyst"
    table_share: ClassVar[float] = 0.8

    def durability(self) -> Durability:
        return Durability("D2", "MonetDB flushes its log at each commit")
