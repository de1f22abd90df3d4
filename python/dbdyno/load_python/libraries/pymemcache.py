"""pymemcache: memcached's text protocol in Python alone; an encoded row under its key."""

from __future__ import annotations

from importlib.metadata import version as installed_version

from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheError, MemcacheServerError, MemcacheUnexpectedCloseError

from dbdyno.load_python import session
from dbdyno.load_python.column import Value
from dbdyno.load_python.failure import Failure, not_understood
from dbdyno.load_python.table import Row, Table
from dbdyno.load_python.workloads import Step


def failure_of(error: Exception) -> Failure:
    """Return what an exception of pymemcache, or of the socket under it, means."""
    text = error.args[0] if error.args else ""
    text = text.decode(errors="replace") if isinstance(text, bytes) else str(error)
    match error:
        case TimeoutError():
            return Failure("timeout", text)
        case OSError() | MemcacheUnexpectedCloseError():
            return Failure("connection", text or "the server closed the connection")
        case MemcacheServerError():
            return Failure("full" if "out of memory" in text else "server", text)
    return not_understood(error, text)


class Session(session.Cache):
    """A separate `Client`, as the library makes it but for time-outs and for writes that wait to be acknowledged."""

    def __init__(self, endpoint: session.Endpoint, steps: tuple[Step, ...]) -> None:
        super().__init__(endpoint, steps)
        where = endpoint.socket or (endpoint.host, endpoint.port)
        self._client = Client(
            where,
            connect_timeout=endpoint.timeout_s,
            timeout=endpoint.timeout_s,
            # By default the library does not wait for the answer to a set: half of the work of every other client.
            default_noreply=False,
        )
        try:
            self._client.version()
        except (MemcacheError, OSError) as error:
            raise Failure("connect", failure_of(error).message) from None

    @staticmethod
    def version() -> str:
        return f"pymemcache {installed_version('pymemcache')}"

    def get(self, step: int, key: int) -> Row | None:
        return self.find(step, key)

    def find(self, step: int, value: Value) -> Row | None:
        table = self.steps[step].table
        try:
            data = self._client.get(table.store_key(value))
        except (MemcacheError, OSError) as error:
            raise failure_of(error) from None
        if data is None:
            return None
        row = table.decode(data)
        if row is None:
            raise Failure("mismatch", f"{len(data)} bytes that are not a row of {table.name}")
        return row

    def update(self, step: int, key: int, version: int) -> bool:
        table = self.steps[step].table
        self._set(table.store_key_of(key), table.encode(table.generate(key, version)))
        return True

    def _set(self, name: str, data: bytes) -> None:
        try:
            stored = self._client.set(name, data)
        except (MemcacheError, OSError) as error:
            raise failure_of(error) from None
        if not stored:
            raise Failure("server", "not stored")

    def fill(self, step: int, value: Value, row: Row) -> None:
        table = self.steps[step].table
        self._set(table.store_key(value), table.encode(row))

    def forget(self, step: int, key: int) -> None:
        try:
            self._client.delete(self.steps[step].table.store_key_of(key))
        except (MemcacheError, OSError) as error:
            raise failure_of(error) from None

    def add(self, step: int, key: int, delta: int) -> bool:
        raise Failure("server", "memcached cannot add to a column")

    def count(self, table: Table, rows: int) -> int | None:
        """Return None: a cache may forget rows as it likes, so their number says nothing."""
        return None

    def total(self, table: Table, column: str, rows: int) -> int | None:
        return None

    def close(self) -> None:
        self._client.close()
