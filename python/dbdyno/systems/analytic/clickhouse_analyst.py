"""A whole table in a private ClickHouse server, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from dbdyno.analytics.table import Table
from dbdyno.later import LaterModule
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.analytic import clickhouse_table
from dbdyno.systems.running.endpoint import Endpoint

if TYPE_CHECKING:
    import secrets
    from http import client
else:
    secrets = LaterModule("secrets")
    client = LaterModule("http.client")

BLOCK_BYTES = 1 << 20
_FORMAT = {"default_format": "JSONCompact", "output_format_json_quote_64bit_integers": "0"}


class ClickHouseError(Exception):
    """The server's message for a query that failed."""


class ClickHouseAnalyst(Analyst):
    """Requests to `endpoint`, a connection each.

    Rows go into a table that keeps nothing, of which a view makes rows of the real one: servers of this age convert
    nothing in an INSERT.
    """

    by = "INSERT … FORMAT CSV, a batch of files each"

    @property
    def error(self) -> tuple[type[Exception], ...]:
        return (ClickHouseError, OSError, client.HTTPException)

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._query_id = ""

    def create(self, table: Table) -> None:
        self.ask(clickhouse_table.create(table))

    def load(self, table: Table, paths: Sequence[Path]) -> None:
        lines, view = f"{table.name}_lines", f"{table.name}_view"
        self.ask(f"CREATE TABLE {lines} ({clickhouse_table.lines(table)}) ENGINE = Null")
        rows = f"SELECT {clickhouse_table.converted(table)} FROM {lines}"
        self.ask(f"CREATE MATERIALIZED VIEW {view} TO {table.name} AS {rows}")
        self._send(f"INSERT INTO {lines} FORMAT CSV", _without_headers(paths))
        self.ask(f"DROP TABLE {view}")
        self.ask(f"DROP TABLE {lines}")

    def finish(self, table: Table) -> int:
        (size,) = self.ask(f"SELECT SUM(bytes_on_disk) FROM system.parts WHERE active AND table = '{table.name}'")[0]
        return int(size)

    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        # A request of GET may change nothing, and one of POST may.
        return clickhouse_table.rows(self._send("", iter([sql.encode()])))

    def _send(self, query: str, body: Iterator[bytes]) -> str:
        """Return what the server answers to a query, or to what begins with it and goes on in `body`."""
        self._query_id = secrets.token_hex(8)
        return self._request({"query": query, "query_id": self._query_id, **_FORMAT}, body)

    def _request(self, parameters: dict[str, str], body: Iterator[bytes]) -> str:
        endpoint = self._endpoint
        connection = client.HTTPConnection(endpoint.host, endpoint.port)
        headers = {"X-ClickHouse-User": endpoint.user or "", "X-ClickHouse-Key": endpoint.password or ""}
        try:
            connection.request("POST", f"/?{urlencode(parameters)}", body, headers, encode_chunked=True)
            response = connection.getresponse()
            answer = response.read().decode(errors="replace")
        finally:
            connection.close()
        if response.status != 200:
            raise ClickHouseError(" ".join(answer.split())[:1000])
        return answer

    def cancel(self) -> None:
        self._request({"query": f"KILL QUERY WHERE query_id = '{self._query_id}' ASYNC"}, iter([]))

    def close(self) -> None:
        # Each request closed its own connection.
        self._query_id = ""


def _without_headers(paths: Sequence[Path]) -> Iterator[bytes]:
    for path in paths:
        with path.open("rb") as file:
            file.readline()
            while block := file.read(BLOCK_BYTES):
                yield block
