"""SQLite, inside the load client."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.workloads import ANALYSE, COPY, OPERATIONS, PARTITION
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.base import Durability
from dbdyno.systems.copier import Copier
from dbdyno.systems.embedded.embedded import Embedded
from dbdyno.systems.embedded.sqlite_analyst import SQLiteAnalyst
from dbdyno.systems.embedded.sqlite_copier import TOOLS, SQLiteCopier

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument


class SQLite(Embedded):
    """One database file. Settings are SQLite's pragmas, with the units in their names.

    The default journal is the write-ahead log: with the rollback journal a writer shuts every reader out.
    """

    name = "sqlite"
    what = "SQLite, embedded (journal_mode, synchronous, cache_size_kib, mmap_size_bytes)"
    operations = frozenset({*OPERATIONS, ANALYSE, COPY}) - {PARTITION}
    copy_tools = TOOLS
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "journal_mode": ("wal", "delete", "truncate", "persist", "memory", "off"),
        "synchronous": ("full", "extra", "normal", "off"),
    }
    numbers: ClassVar[dict[str, int]] = {"cache_size_kib": 2000, "mmap_size_bytes": 0}
    levers: Mapping[str, str] = {"commit": "synchronous=off", "disk": "cache_size_kib=262144"}

    def durability(self) -> Durability:
        settings = self.settings()
        return durability_of(settings["journal_mode"], settings["synchronous"])

    def analyst(self) -> Analyst:
        _check_python()
        return SQLiteAnalyst(self.path / "dbdyno.sqlite", self.settings())

    def copier(self, tool: str, workers: int, programs: Mapping[str, str] | None = None) -> Copier:
        del workers
        _check_python()
        return SQLiteCopier(self.path / "dbdyno.sqlite", tool, (programs or self.tool_programs(tool))["sqlite3"])

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        del secrets
        return {"kind": "sqlite", "path": str(self.path / "dbdyno.sqlite"), **self.settings()}


def _check_python() -> None:
    """Raise UserError if Python was built without SQLite. The load client brings its own, so other workloads run."""
    if find_spec("_sqlite3") is None:
        raise UserError("sqlite: this Python was built without its module sqlite3, which this workload needs")


def durability_of(journal_mode: str, synchronous: str) -> Durability:
    """Return what the pragmas promise of an acknowledged write (sqlite.org/pragma.html#pragma_synchronous)."""
    reason = f"synchronous={synchronous} journal_mode={journal_mode}"
    if journal_mode in ("off", "memory"):
        return Durability("D0", reason)
    return Durability({"full": "D2", "extra": "D2", "normal": "D1", "off": "D0"}[synchronous], reason)
