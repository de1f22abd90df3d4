"""Several nodes that each hold all rows, as one system: what `galera` and `spread` have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import GET_ELSEWHERE, OPERATIONS
from dbdyno.systems.base import Durability, Launch, NamedProcess, System
from dbdyno.systems.probe import Probe
from dbdyno.systems.space import Space

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import OriginStated, ServerStated

LEVELS = ("unknown", "D0", "D1", "D2")


class Cluster(System):
    """Nodes in turn; clients are divided among `own_nodes` of them, from the first on, and do everything there."""

    operations = frozenset({*OPERATIONS, GET_ELSEWHERE})
    # A client library has one connection a client, and knows no nodes.
    libraries: ClassVar[tuple[str, ...]] = ()

    def __init__(self, spec: SystemSpec, nodes: Sequence[System]) -> None:
        super().__init__(spec)
        self.nodes = nodes
        self.own_nodes = len(nodes)
        for number, node in enumerate(nodes, 1):
            node.server_name = f"{self.name}-{number}"

    def start(self, launch: Launch) -> None:
        for node in self.nodes:
            node.start(launch)

    def stop(self) -> None:
        for node in reversed(self.nodes):
            node.stop()

    def private_servers(self) -> list[System]:
        return [server for node in self.nodes for server in node.private_servers()]

    def space(self, records: float, data_bytes: float) -> Space:
        return sum((node.space(records, data_bytes) for node in self.nodes), Space())

    def server_pids(self) -> dict[str, int]:
        return {name: pid for node in self.nodes for name, pid in node.server_pids().items()}

    def named_processes(self) -> dict[str, NamedProcess]:
        return {name: process for node in self.nodes for name, process in node.named_processes().items()}

    def addresses(self) -> dict[str, tuple[str, int]]:
        return {name: address for node in self.nodes for name, address in node.addresses().items()}

    def sockets(self) -> dict[str, str]:
        return {name: path for node in self.nodes for name, path in node.sockets().items()}

    def origins(self) -> dict[str, OriginStated]:
        return {name: origin for node in self.nodes for name, origin in node.origins().items()}

    def started_with(self) -> dict[str, list[str]]:
        return {name: settings for node in self.nodes for name, settings in node.started_with().items()}

    def forking(self) -> frozenset[str]:
        return frozenset(name for node in self.nodes for name in node.forking())

    def data_directories(self) -> tuple[Path, ...]:
        return tuple(directory for node in self.nodes for directory in node.data_directories())

    def probes(self) -> list[Probe]:
        return [probe for node in self.nodes for probe in node.probes()]

    def death(self) -> str | None:
        return next(filter(None, (node.death() for node in self.nodes)), None)

    def replaced(self) -> str | None:
        return next(filter(None, (node.replaced() for node in self.nodes)), None)

    def servers(self) -> list[ServerStated]:
        return [server for node in self.nodes for server in node.servers()]

    def all_settings(self) -> dict[str, dict[str, str]]:
        return {name: settings for node in self.nodes for name, settings in node.all_settings().items()}

    def durability(self) -> Durability:
        """Return the least that any node promises: which of them a client writes to is not its choice."""
        least = min((node.durability() for node in self.nodes), key=lambda durability: LEVELS.index(durability.level))
        return Durability(least.level, f"{least.reason}, on each of {len(self.nodes)} nodes")

    def cautions(self) -> list[str]:
        return [sentence for node in self.nodes for sentence in node.cautions()]

    def counters(self) -> dict[str, dict[str, int]]:
        return {name: counted for node in self.nodes for name, counted in node.counters().items()}

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        nodes = [node.store_plan(secrets) for node in self.nodes]
        return {"kind": "spread", "nodes": nodes, "own_nodes": self.own_nodes}
