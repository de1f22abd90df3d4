"""A primary and replicas of it, private, as one system: all is asked of the primary, and it or a replica is killed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import OPERATIONS
from dbdyno.systems.arrangements.cluster import Cluster
from dbdyno.systems.base import Durability, Launch, System
from dbdyno.systems.follower import Follower
from dbdyno.systems.mysql import follower as mysql_follower
from dbdyno.systems.mysql.client import ask
from dbdyno.systems.mysql.mariadb import MariaDB
from dbdyno.systems.mysql.mysql import MySQL
from dbdyno.systems.mysql.replica import Replica
from dbdyno.systems.postgresql.follower import QUESTIONS, PostgreSQLFollower
from dbdyno.systems.postgresql.postgresql import PostgreSQL
from dbdyno.systems.postgresql.standby import TOOL, Standby, StandbyWitness, promise_of, row_versions
from dbdyno.systems.running.server import Server
from dbdyno.systems.witness import Versions, Witness

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument

# Each server creates these itself: the statements of init-file must not be replicated.
_UNLOGGED = "SET sql_log_bin = 0;\n"
_OF_MARIADB = {"binlog_format": "ROW"}
_OF_MYSQL = {
    "binlog_format": "ROW",
    "gtid_mode": "ON",
    "enforce_gtid_consistency": "ON",
    "log_slave_updates": "ON",
}


class Replicated(Cluster):
    """`replicated(mariadb*2)`: the first part is the primary, each other one a replica, asynchronous by default.

    Settings follow a part: `replicated(mariadb?sync_binlog=1, mariadb)`.
    """

    name = "replicated"
    takes_parts = True
    what = "a primary and its replicas (MariaDB, MySQL or PostgreSQL): replicated(mariadb*2), settings follow a part"
    operations = frozenset(OPERATIONS)
    can_crash = True

    primary: Server
    replicas: Sequence[Server]

    @classmethod
    def made_of(cls, spec: SystemSpec, parts: list[System]) -> System:
        """Return the arrangement of servers; raises UserError if they cannot be a primary and its replicas."""
        if spec.settings:
            raise UserError(f"{spec.label}: settings follow a part, not the whole")
        mysql = [node for node in parts if isinstance(node, MariaDB) and type(node) in (MariaDB, MySQL)]
        postgresql = [node for node in parts if isinstance(node, PostgreSQL)]
        if len(parts) < 2 or len(parts) not in (len(mysql), len(postgresql)):
            raise UserError(
                f"{spec.label}: replicated takes a primary and replicas, e.g. replicated(mariadb*2) or "
                "replicated(postgresql*2)"
            )
        return ReplicatedMySQL(spec, mysql) if mysql else ReplicatedPostgreSQL(spec, postgresql)

    def kill(self) -> None:
        self.primary.kill()

    def start_again(self) -> None:
        self.primary.start_again()

    def replica_to_kill(self) -> System:
        return self.replicas[0]

    def durability(self) -> Durability:
        durability = self.primary.durability()
        return replace(durability, reason=f"{durability.reason}, of the primary")

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return self.primary.store_plan(secrets)


class ReplicatedMySQL(Replicated):
    """Servers of MariaDB or MySQL; replicas follow by GTID."""

    primary: MariaDB
    replicas: Sequence[MariaDB]

    def __init__(self, spec: SystemSpec, nodes: list[MariaDB]) -> None:
        """Take the arrangement and its servers; raises UserError if they are not of one version that has GTIDs."""
        super().__init__(spec, nodes)
        if len({node.spec.product for node in nodes}) > 1 or nodes[0].spec.version == "5.5":
            raise UserError(
                f"{spec.label}: primary and replicas are of one version, which has GTIDs: MySQL from 5.6 on"
            )
        self._is_mysql = isinstance(nodes[0], MySQL)
        self.primary, *self.replicas = [self._configured(number, node) for number, node in enumerate(nodes, 1)]

    def _configured(self, number: int, node: MariaDB) -> MariaDB:
        log = {"log_bin": "on"} if self._is_mysql or number == 1 else {}
        needed = {"server_id": str(number), **log, **(_OF_MYSQL if self._is_mysql else _OF_MARIADB)}
        node.spec = replace(node.spec, settings=needed | dict(node.spec.settings))
        node.new_user = _UNLOGGED + node.new_user
        return node

    def start(self, launch: Launch) -> None:
        self.primary.start(launch)
        for replica in self.replicas:
            # The power of the primary's disk alone is cut.
            replica.start(replace(launch, parent=None))
            self._follow(replica)

    def _follow(self, replica: MariaDB) -> None:
        primary = self.primary.endpoint
        by = "MASTER_AUTO_POSITION=1" if self._is_mysql else "MASTER_USE_GTID=slave_pos"
        ask(
            replica.endpoint,
            f"CHANGE MASTER TO MASTER_HOST='{primary.host}', MASTER_PORT={primary.port}, MASTER_USER='{primary.user}', "
            f"MASTER_PASSWORD='{primary.password}', MASTER_CONNECT_RETRY=1, {by}",
        )
        ask(replica.endpoint, "START SLAVE")

    def versions(self, tables: Mapping[str, int]) -> Versions:
        return self.primary.versions(tables)

    def witnesses(self) -> list[Witness]:
        (log,) = self.primary.witnesses()
        # A replica is sent what the log has, and not before that is flushed.
        made = (self.primary.endpoint, log.promise, self._is_mysql)
        return [log, *(Replica(replica.server_name, replica.endpoint, *made) for replica in self.replicas)]

    def followers(self) -> list[Follower]:
        questions = mysql_follower.MYSQL if self._is_mysql else mysql_follower.MARIADB
        return [
            mysql_follower.MySQLFollower(replica.server_name, self.primary.endpoint, replica.endpoint, questions)
            for replica in self.replicas
        ]


class ReplicatedPostgreSQL(Replicated):
    """Servers of PostgreSQL; replicas are hot standbys that stream the primary's log, each by a slot there."""

    primary: PostgreSQL
    replicas: Sequence[Standby]

    def __init__(self, spec: SystemSpec, nodes: list[PostgreSQL]) -> None:
        """Take the arrangement and its servers; raises UserError if they are not of one version that copies itself."""
        primary, *others = nodes
        self.primary, self.replicas = primary, [Standby(node.spec, primary) for node in others]
        super().__init__(spec, [self.primary, *self.replicas])
        if len({node.spec.product for node in nodes}) > 1:
            raise UserError(f"{spec.label}: primary and replicas are of one version")
        if primary.installation() and not primary.tool_program(TOOL):
            raise UserError(
                f"{spec.label}: {primary.spec.product} comes without {TOOL}, which makes a replica: take the host's "
                "postgresql, or a whole build (bindir=…)"
            )

    def start(self, launch: Launch) -> None:
        self.primary.start(launch)
        for replica in self.replicas:
            # The power of the primary's disk alone is cut.
            replica.start(replace(launch, parent=None))

    def versions(self, tables: Mapping[str, int]) -> Versions:
        with self.primary.asking():
            return row_versions(self.primary.endpoint, tables)

    def witnesses(self) -> list[Witness]:
        made = (self.primary.endpoint, promise_of(self.primary.all_settings()[self.primary.server_name]))
        return [StandbyWitness(replica.server_name, replica.endpoint, *made) for replica in self.replicas]

    def followers(self) -> list[Follower]:
        primary = self.primary.endpoint
        return [
            PostgreSQLFollower(replica.server_name, primary, replica.endpoint, QUESTIONS) for replica in self.replicas
        ]
