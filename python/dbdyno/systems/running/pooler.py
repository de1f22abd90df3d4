"""The base of poolers of connections, which stand between clients and a server of their protocol."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.systems.base import Durability, Launch
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.server import Server

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument

SPARE_CONNECTIONS = 20
"""Beside those of the clients: loading, checking and asking take some."""


class Pooler(Server):
    """A private pooler. It stores nothing: a system is what is behind it.

    product: its name as its makers write it. console: where it answers questions about itself, once started.
    """

    operations = frozenset()
    serves_hosts = True
    console: Endpoint
    product: ClassVar[str]

    def check_names(self) -> None:
        """Raise UserError for a setting whose name its file of settings cannot have."""
        for key in self.server_settings:
            if not re.fullmatch(r"[A-Za-z0-9_]+", key):
                raise UserError(f"{self.spec.label}: '{key}' is not a setting of {self.product}")

    def serve(self, behind: Endpoint, launch: Launch) -> None:
        """Start it in front of a server, which it reaches over TCP without TLS; raises UserError, RunFailed."""
        raise NotImplementedError

    def _answers(self) -> bool:
        return self.listens()

    def durability(self) -> Durability:
        return Durability("unknown", "it stores nothing")

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        raise NotImplementedError("it stores nothing")
