"""Counters of a server of the MongoDB protocol, from serverStatus. It does not show what its clients wait for."""

from typing import Any

from dbdyno.errors import RunFailed
from dbdyno.systems.answers import Answer
from dbdyno.systems.mongodb.client import answer, connect
from dbdyno.systems.mongodb.no_answer import NoAnswer
from dbdyno.systems.probe import ANSWER_TIMEOUT_S, Probe
from dbdyno.systems.running.endpoint import Endpoint

COMMANDS = {
    "find": "finds_total",
    "insert": "inserts_total",
    "update": "updates_total",
    "delete": "deletes_total",
    "aggregate": "aggregates_total",
    "count": "counts_total",
}
FIGURES = {
    ("connections", "current"): "connected_clients",
    ("network", "bytesIn"): "received_bytes_total",
    ("network", "bytesOut"): "sent_bytes_total",
    ("mem", "resident"): "memory_resident_mib",
}
"""Path of each figure in the answer; MongoDB has them all, FerretDB only its commands."""


class MongodbProbe(Probe):
    """Asks for serverStatus."""

    def __init__(self, server: str, endpoint: Endpoint, auth_database: str) -> None:
        """Take the server's endpoint, and the database that knows the user."""
        super().__init__(server)
        self._endpoint, self._auth_database = endpoint, auth_database
        self._client: Any = None

    def open(self) -> None:
        self.close()
        self._client = connect(self._endpoint, self._auth_database, ANSWER_TIMEOUT_S)
        self._status()

    def counters(self) -> dict[str, float]:
        return figures_of(self._status())

    def _status(self) -> Answer:
        try:
            return answer(self._client, "admin", "serverStatus")
        except NoAnswer as error:
            raise RunFailed(f"{self.server} does not show its figures: {error}") from None

    def close(self) -> None:
        if self._client:
            self._client.close()
            self._client = None


def figures_of(status: Answer) -> dict[str, float]:
    """Return what serverStatus says, under dbdyno's names."""
    commands = status.get("metrics", {}).get("commands", {})
    figures = {ours: float(commands[theirs]["total"]) for theirs, ours in COMMANDS.items() if theirs in commands}
    for (part, key), ours in FIGURES.items():
        if key in status.get(part, {}):
            figures[ours] = float(status[part][key])
    return figures
