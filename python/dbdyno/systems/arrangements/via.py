"""A pooler of connections in front of a server: `via(pgbouncer, postgresql)`, `via(proxysql, mariadb)`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import OPERATIONS
from dbdyno.systems.arrangements.cache_aside import Fronted
from dbdyno.systems.base import Launch, System
from dbdyno.systems.mysql.mariadb import MariaDB
from dbdyno.systems.mysql.proxysql import ProxySQL
from dbdyno.systems.postgresql.pgbouncer import PgBouncer
from dbdyno.systems.postgresql.postgresql import PostgreSQL
from dbdyno.systems.running.pooler import Pooler

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument

BEHIND_PROXYSQL = ("mariadb", "mysql")
"""Systems whose protocol ProxySQL speaks."""


class Via(Fronted):
    """Clients connect with the pooler, which has connections with the server; both are private and observed."""

    name = "via"
    what = "a pooler in front of a server: via(pgbouncer, postgresql), via(proxysql, mariadb); settings follow a part"
    operations = frozenset(OPERATIONS)

    @classmethod
    def made_of(cls, spec: SystemSpec, parts: list[System]) -> System:
        return cls(spec, parts)

    def __init__(self, spec: SystemSpec, parts: list[System]) -> None:
        """Take the arrangement and its two systems; raises UserError if they cannot be what they are to be."""
        match parts:
            case [PgBouncer() as pooler, PostgreSQL() as server]:
                self.pooler: Pooler = pooler
                self.server: PostgreSQL | MariaDB = server
            case [ProxySQL() as pooler, MariaDB() as server] if server.name in BEHIND_PROXYSQL:
                self.pooler, self.server = pooler, server
                if server.spec.settings.get("access") == "handler":
                    raise UserError(
                        f"{spec.label}: ProxySQL shares connections, and HANDLER opens a table in one: leave access out"
                    )
            case _:
                raise UserError(
                    f"{spec.label}: via takes a pooler and its server, via(pgbouncer, postgresql) or "
                    "via(proxysql, mariadb)"
                )
        if spec.settings:
            raise UserError(f"{spec.label}: settings belong to a part, via(pgbouncer?pool_mode=session, postgresql)")
        if self.server.on_socket or self.server.encrypts:
            raise UserError(f"{spec.label}: the server behind {self.pooler.name} is reached over TCP without TLS")
        super().__init__(spec, parts[:1], parts[1])
        self.operations = self.operations & self.server.operations

    def start(self, launch: Launch) -> None:
        self.server.start(launch)
        self.pooler.serve(self.server.endpoint, replace(launch, data=None))

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        # ProxySQL speaks MySQL's protocol without MariaDB's additions, and takes no local files.
        loading = {"load_with": "insert"} if isinstance(self.pooler, ProxySQL) else {}
        return {**self.server.store_plan(secrets), "address": self.pooler.endpoint.address(), **loading}
