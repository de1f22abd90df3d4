"""A Galera cluster of MariaDB nodes, on this host or each on its own.

Every node holds all rows, and each can be written to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems.arrangements.cluster import Cluster
from dbdyno.systems.base import Durability, Launch, System, numbers_of
from dbdyno.systems.follower import Follower
from dbdyno.systems.mysql.follower import GALERA, MySQLFollower
from dbdyno.systems.mysql.mariadb import MariaDB
from dbdyno.systems.mysql.probe import MySQLProbe
from dbdyno.systems.probe import Names, Probe
from dbdyno.systems.running.password import random_password
from dbdyno.systems.running.ports import free_port
from dbdyno.systems.running.process import find_program
from dbdyno.systems.witness import CATCH_UP_S, Promise, Versions, Witness

if TYPE_CHECKING:
    from dbdyno.results.json_types import ServerStated

PROVIDERS = tuple(
    Path(folder) / "libgalera_smm.so"
    for folder in ("/usr/lib/galera", "/usr/lib64/galera-4", "/usr/lib64/galera", "/usr/lib")
)
PROGRAMS = {"mariadbd": "mariadb-server", "wsrep_sst_rsync": "mariadb-server", "rsync": "rsync", "lsof": "lsof"}
"""Programs that a node needs, each with its Debian package; rsync copies all data to a new node."""
LEAST_WITH_MAJORITY, MOST_NODES = 3, 9
STATUS: Names = {
    "wsrep_local_commits": "galera_commits_total",
    "wsrep_local_cert_failures": "galera_certification_failures_total",
    "wsrep_local_bf_aborts": "galera_aborted_for_another_total",
    "wsrep_local_recv_queue": "galera_receive_queue",
    "wsrep_local_send_queue": "galera_send_queue",
    "wsrep_flow_control_paused_ns": ("galera_paused_s_total", 1e-9),
    "wsrep_flow_control_sent": "galera_pauses_asked_for_total",
    "wsrep_replicated_bytes": "galera_replicated_bytes_total",
    "wsrep_received_bytes": "galera_received_bytes_total",
    "wsrep_last_committed": "galera_last_committed",
}
VARIABLES = (
    "wsrep_slave_threads",
    "wsrep_retry_autocommit",
    "wsrep_sync_wait",
    "wsrep_certification_rules",
    "binlog_format",
    "innodb_autoinc_lock_mode",
)
RESERVED = frozenset(
    (
        *("wsrep_on", "wsrep_provider", "wsrep_cluster_name", "wsrep_cluster_address", "wsrep_new_cluster"),
        *("wsrep_node_name", "wsrep_node_address", "wsrep_node_incoming_address"),
        *("wsrep_sst_method", "wsrep_sst_receive_address", "wsrep_sst_auth"),
    )
)
"""Settings of the group, which dbdyno makes."""


@dataclass(frozen=True)
class Place:
    """The address of a node, and its ports: for the group, and for the changes or the whole data that it lacks."""

    address: str
    group: int
    changes: int
    everything: int


class Node(MariaDB):
    """One node; the first one makes the cluster, the others join it and are given its data, users among them."""

    reserved = MariaDB.reserved | RESERVED

    def __init__(self, spec: SystemSpec, number: int) -> None:
        super().__init__(spec)
        self._number = number
        if number:
            self.new_user = ""

    def find_place(self, launch: Launch) -> Place:
        """Return where the others are to find it, on the host that it will be started on."""
        return new_place(launch.address)

    def join(self, places: Sequence[Place], password: str) -> None:
        """Take where all nodes are, this one among them, and the password of the cluster's user."""
        self._places, self._password = places, password

    def new_password(self) -> str:
        return self._password

    def _make_data_command(self, data: Path) -> list[str]:
        return ["mkdir", str(data)] if self._number else super()._make_data_command(data)

    def server_options(self) -> list[str]:
        own, group = self._places[self._number], ",".join(f"{node.address}:{node.group}" for node in self._places)
        also = self.spec.settings.get("wsrep_provider_options", "gcache.size=32M")
        provider = (
            f"base_host={own.address};base_port={own.group};gmcast.listen_addr=tcp://{own.address}:{own.group};"
            f"ist.recv_addr={own.address}:{own.changes};{also}"
        )
        return [
            "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2",
            "--wsrep-on=ON",
            f"--wsrep-provider={_provider()}",
            "--wsrep-cluster-name=dbdyno",
            f"--wsrep-cluster-address=gcomm://{group}",
            f"--wsrep-node-name={self.server_name}",
            f"--wsrep-node-address={own.address}:{own.group}",
            "--wsrep-sst-method=rsync",
            f"--wsrep-sst-receive-address={own.address}:{own.everything}",
            *super().server_options(),
            f"--wsrep-provider-options={provider}",
            *(["--wsrep-new-cluster"] if self._number == 0 else []),
        ]

    def _answers(self) -> bool:
        # A node that is not ready yet refuses everything else.
        return super()._answers() and self._query("SHOW STATUS LIKE 'wsrep_ready'") == (("wsrep_ready", "ON"),)

    def servers(self) -> list[ServerStated]:
        (server,), variables = super().servers(), self._variables()
        server["effective_settings"] |= {key: variables[key] for key in VARIABLES}
        return [server]

    def counters(self) -> dict[str, dict[str, int]]:
        counted = numbers_of(self._ask("SHOW GLOBAL STATUS LIKE 'wsrep%'"), tuple(STATUS))
        return {self.server_name: super().counters()[self.server_name] | counted}

    def probes(self) -> list[Probe]:
        return [MySQLProbe(self.server_name, self.endpoint, STATUS)]


class NodeWitness:
    """Another node of the group: it has all rows once it has applied what the first one had committed."""

    unable: str | None = None
    outlives = False
    promise = Promise(True, "each node of a group applies every commit")

    def __init__(self, node: Node, follower: Follower) -> None:
        self.name = f"node {node.server_name}"
        self._node, self._follower = node, follower

    def alone(self, tables: Mapping[str, int]) -> Versions:
        """Return what it has."""
        return self._node.versions(tables)

    def versions(self, tables: Mapping[str, int]) -> tuple[Versions, str | None]:
        """Return what it has once it has caught up; raises RunFailed if it does not."""
        self._follower.catch_up(CATCH_UP_S)
        return self._node.versions(tables), None


class Galera(Cluster):
    """A private cluster. Settings: `nodes`, `write` (to `all` nodes or to `one`), and any server variable."""

    name = "galera"
    what = "a Galera cluster of MariaDB (nodes=3, write=all or one), any server variable"

    def __init__(self, spec: SystemSpec) -> None:
        """Take a configuration; raises UserError if a cluster cannot be so."""
        settings = dict(spec.settings)
        count, write = settings.pop("nodes", "3"), settings.pop("write", "all")
        if count not in map(str, range(2, MOST_NODES + 1)):
            raise UserError(f"{spec.label}: nodes = '{count}': give a number from 2 to {MOST_NODES}")
        if write not in ("all", "one"):
            raise UserError(f"{spec.label}: write = '{write}': give one of all, one")
        if "engine" in settings:
            raise UserError(f"{spec.label}: 'engine' cannot be set: Galera replicates InnoDB alone; leave it out")
        of_node = replace(spec, settings=settings)
        self._members = [Node(of_node, number) for number in range(int(count))]
        super().__init__(spec, self._members)
        if write == "one":
            self.own_nodes = 1

    @classmethod
    def missing(cls) -> str | None:
        lacking = {program: package for program, package in PROGRAMS.items() if not find_program(program)}
        lacking |= {} if _provider() else {"libgalera_smm.so": "galera-4"}
        if not lacking:
            return None
        return f"{', '.join(lacking)} not installed: apt install {' '.join(dict.fromkeys(lacking.values()))}"

    def start(self, launch: Launch) -> None:
        password = random_password()
        places = [node.find_place(launch) for node in self._members]
        while not _are_apart(places):
            places = [node.find_place(launch) for node in self._members]
        for node in self._members:
            node.join(places, password)
        super().start(launch)

    def followers(self) -> list[Follower]:
        first, *others = self._members
        return [MySQLFollower(node.server_name, first.endpoint, node.endpoint, GALERA) for node in others]

    def replica_to_kill(self) -> System:
        # Two nodes of two are no majority without each other, and clients of a killed node have none.
        if len(self._members) < LEAST_WITH_MAJORITY or self.own_nodes > 1:
            raise UserError(
                f"{self.spec.label}: a node is killed beside two others, and clients use the first: give "
                "galera?nodes=3&write=one"
            )
        return self._members[1]

    def versions(self, tables: Mapping[str, int]) -> Versions:
        return self._members[0].versions(tables)

    def witnesses(self) -> list[Witness]:
        first, *others = self._members
        return [
            NodeWitness(node, MySQLFollower(node.server_name, first.endpoint, node.endpoint, GALERA)) for node in others
        ]

    def durability(self) -> Durability:
        least = super().durability()
        return replace(least, reason=f"{least.reason}, all of which have received it by then")


def new_place(address: str) -> Place:
    """Return a place at an address of this host, whose ports are free."""
    return Place(address, *(free_port(address) for _ in range(3)))


def _are_apart(places: Sequence[Place]) -> bool:
    """Return whether no two ports of one host are the same: a free one may be found twice."""
    ports = [(node.address, port) for node in places for port in (node.group, node.changes, node.everything)]
    return len(set(ports)) == len(ports)


def _provider() -> Path | None:
    return next(filter(Path.exists, PROVIDERS), None)
