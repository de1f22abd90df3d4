"""DuckDB, inside dbdyno's own process: whole tables are loaded and asked, through its Python client."""

from __future__ import annotations

from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from dbdyno.experiment.workloads import ANALYSE
from dbdyno.later import LaterModule
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.base import Durability, Launch
from dbdyno.systems.embedded.embedded import Embedded
from dbdyno.systems.settings import without_secrets

if TYPE_CHECKING:
    from importlib import metadata

    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import ServerStated
else:
    metadata = LaterModule("importlib.metadata")


class DuckDB(Embedded):
    """One database file. Settings: `threads` and `memory_limit_mib`; 0 is DuckDB's own default."""

    name = "duckdb"
    what = "DuckDB, embedded, for whole tables (threads, memory_limit_mib)"
    operations = frozenset({ANALYSE})
    table_share: ClassVar[float] = 0.25
    choices: ClassVar[dict[str, tuple[str, ...]]] = {}
    numbers: ClassVar[dict[str, int]] = {"threads": 0, "memory_limit_mib": 0}

    @classmethod
    def missing(cls) -> str | None:
        return None if find_spec("duckdb") else "duckdb is not installed: pip install 'dbdyno[duckdb]'"

    def start(self, launch: Launch) -> None:
        super().start(launch)
        with closing(self.analyst()) as analyst:
            settings = analyst.ask("SELECT name, value FROM duckdb_settings()")
        self._in_force = {name: str(value) for name, value in settings}

    def durability(self) -> Durability:
        return Durability("D2", "DuckDB flushes its log at each commit")

    def servers(self) -> list[ServerStated]:
        effective = {name: self._in_force[name] for name in ("threads", "memory_limit")}
        return [{"name": self.server_name, "version": metadata.version("duckdb"), "effective_settings": effective}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        return {self.server_name: without_secrets(self._in_force)}

    def analyst(self) -> Analyst:
        # Loading its library takes time and memory, which no other command should, and it may not be there.
        module = import_module("dbdyno.systems.analytic.duckdb_analyst")
        analyst: Analyst = module.DuckDBAnalyst(self.path, self.settings())
        return analyst

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        del secrets
        return {"kind": "duckdb", "path": str(self.path), **self.settings()}
