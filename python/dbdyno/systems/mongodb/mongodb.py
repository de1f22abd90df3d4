"""Servers of the MongoDB protocol: what they have in common, and somebody else's, attached by URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.password import VARIABLE as PASSWORD_VARIABLE
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import (
    ADD,
    DELETE,
    FIND_SECONDARY,
    FIND_UNIQUE,
    GET,
    GET_MANY,
    INCREMENT,
    INSERT,
    PUT,
    SCAN,
    SUM,
    UPDATE,
)
from dbdyno.systems.answers import Answer
from dbdyno.systems.base import Durability
from dbdyno.systems.mongodb.no_answer import NoAnswer
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import CONNECT_TIMEOUT_S, Unreached, endpoint_of, refuse_server_settings
from dbdyno.systems.running.server import Server
from dbdyno.systems.settings import without_secrets

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject, StoreDocument
    from dbdyno.results.json_types import ServerStated

COMMANDS = ("find", "insert", "update", "delete", "aggregate", "count", "getMore")
"""Commands whose number is read before and after a trial."""
WRITES = ("acknowledged", "unacknowledged")
"""The plan's words for whether clients wait for the answers to their writes."""
UNACKNOWLEDGED = Durability(
    "D0", "write=unacknowledged: a write is sent, not acknowledged, so nothing is promised of it"
)


class MongoServer(Server):
    """A server of the MongoDB protocol. Setting of its clients: `write` (`acknowledged`, or `unacknowledged`: w 0).

    auth_database: the one that knows the user. writes: the values of `write`, the default first.
    """

    operations = frozenset(
        (*(GET, GET_MANY, UPDATE, ADD, INCREMENT, INSERT, FIND_UNIQUE, FIND_SECONDARY, SUM), *(PUT, DELETE, SCAN))
    )
    driver_errors = (NoAnswer,)
    auth_database = "admin"
    writes: ClassVar[tuple[str, ...]] = WRITES
    protocol: ClassVar[str] = "MongoDB"
    driver_modules: ClassVar[tuple[str, ...]] = ("dbdyno.systems.mongodb.client",)
    libraries: ClassVar[tuple[str, ...]] = ("pymongo",)

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.check_choice("write", self.writes)

    @classmethod
    def libraries_for(cls, settings: Mapping[str, str]) -> tuple[str, ...]:
        return () if settings.get("write") == WRITES[1] else cls.libraries

    def _ask(self, command: str) -> Answer:
        """Return the answer to a command without parameters; raises NoAnswer."""
        answer: Answer = client_module().ask(self.endpoint, self.auth_database, command, CONNECT_TIMEOUT_S)
        return answer

    def _ask_admin(self, command: str, value: Any) -> dict[str, str]:
        """Return the answer for an administrator, flat; if this user is none, a note says so."""
        try:
            with self.asking():
                endpoint = replace(self.endpoint, database="admin")
                return flat(client_module().ask(endpoint, self.auth_database, command, CONNECT_TIMEOUT_S, value))
        except RunFailed as error:
            return {command: f"not shown: {error}"}

    @property
    def acknowledges(self) -> bool:
        """Return whether clients wait for the answers to their writes."""
        return self.spec.settings.get("write") != WRITES[1]

    def counters(self) -> dict[str, dict[str, int]]:
        with self.asking():
            counted = self._ask("serverStatus").get("metrics", {}).get("commands", {})
        totals = {name: int(counted[name]["total"]) for name in COMMANDS if name in counted}
        return {self.server_name: totals}

    def probes(self) -> list[Probe]:
        module = import_module("dbdyno.systems.mongodb.probe")
        return [module.MongodbProbe(self.server_name, self.endpoint, self.auth_database)]

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        return {
            "kind": "mongodb",
            "address": self.endpoint.address(),
            "user": self.endpoint.user,
            "password": self.endpoint.secret(secrets),
            "database": self.endpoint.database,
            "auth_database": self.auth_database,
            "write": WRITES[0] if self.acknowledges else WRITES[1],
        }


def client_module() -> Any:
    """Return the module of single commands; its driver takes a third of a second to load, which others should not."""
    return import_module("dbdyno.systems.mongodb.client")


def flat(document: JsonObject, above: str = "") -> dict[str, str]:
    """Return a document's values by their paths (`parsed.storage.engine`), without what frames an answer.

    `argv` is left out: it says once more, and with passwords, what is in `parsed`.
    """
    values: dict[str, str] = {}
    for key, value in document.items():
        if isinstance(value, Mapping):
            values |= flat(value, f"{above}{key}.")
        elif key not in ("ok", "operationTime", "argv"):
            values[above + key] = str(value)
    return {key: value for key, value in values.items() if not key.startswith("$")}


class AttachedMongoDB(MongoServer):
    """Somebody else's server: `mongodb://user:password@host/database`, `authSource` if it is not `admin`."""

    name = "mongodb"
    schemes = ("mongodb",)
    what = "any server of the MongoDB protocol: mongodb://user@host:27017/database"
    own_settings: ClassVar[tuple[str, ...]] = ("authSource", "write")

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        refuse_server_settings(spec, (*self.own_settings, "socket"))
        self.endpoint = endpoint_of(spec.url, 27017)
        self.auth_database = spec.settings.get("authSource", "admin")
        if not self.endpoint.database:
            raise UserError(f"{spec.label}: name the database to make dbdyno's collections in, mongodb://…/database")

    def attach(self) -> None:
        try:
            # Unlike `ping`, which anybody may, it needs to be logged in if the server wants that.
            self._ask("listCollections")
        except NoAnswer as error:
            if error.refused:
                raise UserError(
                    f"{self.spec.label}: {error}; check the user and the password in the URL or in "
                    f"{PASSWORD_VARIABLE}, and authSource"
                ) from None
            raise Unreached(error) from None

    def cautions(self) -> list[str]:
        name = self.endpoint.database
        with self.asking():
            if "ferretdbVersion" not in self._ask("buildInfo"):
                return []
            admin = replace(self.endpoint, database="admin")
            known = client_module().ask(admin, self.auth_database, "listDatabases", CONNECT_TIMEOUT_S)
        if name in (database["name"] for database in known["databases"]):
            return []
        # dbdyno cannot drop it: a collection that its owner makes in it meanwhile would be lost.
        return [
            f"FerretDB keeps the database '{name}', which is new, empty after the run: name one that is there, or "
            "remove it with db.dropDatabase()"
        ]

    def servers(self) -> list[ServerStated]:
        with self.asking():
            version = self._ask("buildInfo").get("version")
        return [{"name": self.server_name, "version": version, "effective_settings": {}}]

    def all_settings(self) -> dict[str, dict[str, str]]:
        """Return its parameters and the options it was started with, as far as this user may see them."""
        settings = self._ask_admin("getParameter", "*") | self._ask_admin("getCmdLineOpts", 1)
        return {self.server_name: without_secrets(settings)}

    def durability(self) -> Durability:
        if not self.acknowledges:
            return UNACKNOWLEDGED
        return Durability("unknown", "the server's own default write concern decides, and its journal")
