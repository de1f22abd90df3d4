"""Two servers, of which the tables of the first are copied into the second: `copy(mysql@5.7, mysql@8.0)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import COPY
from dbdyno.systems.arrangements.cluster import Cluster
from dbdyno.systems.base import Durability, System
from dbdyno.systems.copier import Copier, Row, Stage
from dbdyno.systems.mysql.mariadb import MariaDB
from dbdyno.systems.mysql.mysql import MySQL
from dbdyno.systems.postgresql.postgresql import PostgreSQL
from dbdyno.systems.space import Space

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument

_ONE_PROTOCOL = ((MariaDB, MySQL), (PostgreSQL,))


class Copy(Cluster):
    """Private servers of one protocol: rows are loaded into the first, and tools copy them into the second.

    copy_tools: those that both have.
    """

    name = "copy"
    takes_parts = True
    what = "a server copied into another: copy(mysql@5.7, mysql@8.0), settings follow a part"
    operations = frozenset({COPY})

    @classmethod
    def made_of(cls, spec: SystemSpec, parts: list[System]) -> System:
        return cls(spec, parts)

    def __init__(self, spec: SystemSpec, nodes: list[System]) -> None:
        """Take the arrangement and its servers; raises UserError if no tool copies from the first to the second."""
        super().__init__(spec, nodes)
        if spec.settings:
            raise UserError(f"{spec.label}: settings follow a part, not the whole")
        kinds = [type(node) for node in nodes]
        if len(nodes) != 2 or not any(set(kinds).issubset(known) for known in _ONE_PROTOCOL):
            raise UserError(
                f"{spec.label}: copy takes two servers that dbdyno starts and that speak one protocol, such as "
                "copy(mariadb, mysql@8.0) or copy(postgresql, postgresql)"
            )
        self.original, self.into = nodes
        both = self.original.copy_tools.keys() & self.into.copy_tools.keys()
        self.copy_tools = {name: tool for name, tool in self.into.copy_tools.items() if name in both}

    def space(self, records: float, data_bytes: float) -> Space:
        """Return the room of the tables alone: whoever copies them knows what that takes."""
        return self.original.space(records, data_bytes) + self.into.space(0, 0)

    def durability(self) -> Durability:
        durability = self.into.durability()
        return replace(durability, reason=f"{durability.reason}, of the server that is copied into")

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return self.original.store_plan(secrets)

    def missing_tool(self, tool: str) -> str | None:
        reasons = [node.missing_tool(tool) for node in (self.into, self.original)]
        return None if None in reasons else reasons[0]

    def tool_programs(self, tool: str) -> dict[str, str]:
        """Return the programs of the server that is copied into: newer ones read what older servers have.

        If it comes without, they are those of the other.
        """
        has_tool = self.into if self.into.missing_tool(tool) is None else self.original
        return has_tool.tool_programs(tool)

    def copier(self, tool: str, workers: int, programs: Mapping[str, str] | None = None) -> Copier:
        programs = programs or self.tool_programs(tool)
        copiers = (node.copier(tool, workers, programs) for node in (self.original, self.into))
        return ServerToServer(*copiers)


class ServerToServer(Copier):
    """Has one server's copier dump and another's restore. The dump lies in the directory of the latter."""

    def __init__(self, original: Copier, into: Copier) -> None:
        self._original, self._into = original, into
        self.home = into.home

    @property
    def error(self) -> tuple[type[Exception], ...]:
        return tuple(dict.fromkeys((*self._original.error, *self._into.error)))

    def _side(self, of_copy: bool) -> Copier:
        return self._into if of_copy else self._original

    def tables(self, of_copy: bool) -> list[str]:
        return self._side(of_copy).tables(of_copy)

    def count(self, table: str) -> int:
        return self._original.count(table)

    def create(self) -> Path:
        return self._into.create()

    def dump(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        return self._original.dump(tables, folder)

    def restore(self, tables: Sequence[str], folder: Path) -> list[Stage]:
        return self._into.restore(tables, folder)

    def definition(self, table: str, of_copy: bool) -> list[str]:
        return self._side(of_copy).portable_definition(table, of_copy)

    def rows(self, table: str, of_copy: bool) -> Iterable[Row]:
        return self._side(of_copy).rows(table, of_copy)

    def drop(self) -> None:
        self._into.drop()

    def close(self) -> None:
        self._into.close()
        self._original.close()
