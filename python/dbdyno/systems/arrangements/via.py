"""A pooler of connections in front of a server: `via(pgbouncer, postgresql)`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import OPERATIONS
from dbdyno.systems.arrangements.cache_aside import Fronted
from dbdyno.systems.base import Launch, System
from dbdyno.systems.postgresql.pgbouncer import PgBouncer
from dbdyno.systems.postgresql.postgresql import PostgreSQL

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument


class Via(Fronted):
    """Clients connect with the pooler, which has connections with the server; both are private and observed."""

    name = "via"
    what = "a pooler of connections in front of a server: via(pgbouncer, postgresql), settings follow a part"
    operations = frozenset(OPERATIONS)

    @classmethod
    def made_of(cls, spec: SystemSpec, parts: list[System]) -> System:
        return cls(spec, parts)

    def __init__(self, spec: SystemSpec, parts: list[System]) -> None:
        """Take the arrangement and its two systems; raises UserError if they cannot be what they are to be."""
        match parts:
            case [PgBouncer() as pooler, PostgreSQL() as server]:
                self.pooler, self.server = pooler, server
            case _:
                raise UserError(f"{spec.label}: via takes a pooler and its server, via(pgbouncer, postgresql)")
        if spec.settings:
            raise UserError(f"{spec.label}: settings belong to a part, via(pgbouncer?pool_mode=session, postgresql)")
        super().__init__(spec, parts[:1], parts[1])

    def start(self, launch: Launch) -> None:
        self.server.start(launch)
        self.pooler.serve(self.server.endpoint, replace(launch, data=None))

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return {**self.server.store_plan(secrets), "address": self.pooler.endpoint.address()}
