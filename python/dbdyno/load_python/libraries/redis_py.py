"""redis-py: Redis and what speaks its protocol; a row is a string under its key, or a hash if columns change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.utils import HIREDIS_AVAILABLE

from dbdyno.load_python import session
from dbdyno.load_python.column import Value
from dbdyno.load_python.failure import Failure, not_understood
from dbdyno.load_python.table import Row, Table
from dbdyno.load_python.workloads import Step


def failure_of(error: Exception) -> Failure:
    """Return what an exception of redis-py means."""
    text = str(error)
    match error:
        case redis.TimeoutError():
            return Failure("timeout", text)
        case redis.exceptions.OutOfMemoryError():
            return Failure("full", text)
        case redis.InvalidResponse():
            return Failure("protocol", text)
        case redis.ConnectionError():
            return Failure("connection", text)
        case redis.ResponseError():
            return Failure("server", text)
    return not_understood(error, text)


@contextmanager
def _asking() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise failure_of(error) from None


class Session(session.Cache):
    """A separate `redis.Redis`, as the library makes it but for time-outs, and without retrying behind the scenes."""

    def __init__(self, endpoint: session.Endpoint, steps: tuple[Step, ...]) -> None:
        super().__init__(endpoint, steps)
        self._is_hash = endpoint.layout == "hash"
        self._columns = [[column.name for column in step.table.columns] for step in steps]
        where: dict[str, Any] = {"host": endpoint.host, "port": endpoint.port}
        # The library's types allow text for every answer; without decode_responses it is bytes.
        self._redis: Any = redis.Redis(
            **({"unix_socket_path": endpoint.socket} if endpoint.socket else where),
            db=int(endpoint.database or 0),
            username=endpoint.user,
            password=endpoint.password,
            socket_timeout=endpoint.timeout_s,
            socket_connect_timeout=endpoint.timeout_s,
            retry=Retry(NoBackoff(), 0),
        )
        try:
            self._redis.ping()
        except redis.RedisError as error:
            raise Failure("connect", str(error)) from None

    @staticmethod
    def version() -> str:
        parser = "parser hiredis" if HIREDIS_AVAILABLE else "parser in Python"
        return f"redis-py {redis.__version__} ({parser})"

    def get(self, step: int, key: int) -> Row | None:
        return self.find(step, key)

    def find(self, step: int, value: Value) -> Row | None:
        table = self.steps[step].table
        name = table.store_key(value)
        # Not by `_asking`: entering a context manager of contextlib costs as much as a tenth of the command.
        try:
            if self._is_hash:
                return _row_of(table, self._redis.hmget(name, self._columns[step]))
            data = self._redis.get(name)
        except redis.RedisError as error:
            raise failure_of(error) from None
        if data is None:
            return None
        row = table.decode(data)
        if row is None:
            raise Failure("mismatch", f"{len(data)} bytes that are not a row of {table.name}")
        return row

    def update(self, step: int, key: int, version: int) -> bool:
        table = self.steps[step].table
        name = table.store_key_of(key)
        try:
            if self._is_hash:
                changed = {column.name: column.value(key, version) for column in table.versioned}
                self._redis.hset(name, mapping=changed)
            else:
                self._redis.set(name, table.encode(table.generate(key, version)))
        except redis.RedisError as error:
            raise failure_of(error) from None
        return True

    def add(self, step: int, key: int, delta: int) -> bool:
        table = self.steps[step].table
        with _asking():
            self._redis.hincrby(table.store_key_of(key), table.columns[self.steps[step].column].name, delta)
        return True

    def fill(self, step: int, value: Value, row: Row) -> None:
        table = self.steps[step].table
        with _asking():
            self._redis.set(table.store_key(value), table.encode(row))

    def forget(self, step: int, key: int) -> None:
        with _asking():
            self._redis.delete(self.steps[step].table.store_key_of(key))

    def count(self, table: Table, rows: int) -> int | None:
        with _asking():
            return int(sum(self._redis.exists(*names) for names in session.batches(table, rows)))

    def total(self, table: Table, column: str, rows: int) -> int | None:
        if not self._is_hash:
            return None
        total = 0
        for names in session.batches(table, rows):
            pipeline = self._redis.pipeline(transaction=False)
            for name in names:
                pipeline.hget(name, column)
            with _asking():
                total += sum(int(value or 0) for value in pipeline.execute())
        return total

    def close(self) -> None:
        self._redis.close()


def _row_of(table: Table, fields: list[bytes | None]) -> Row | None:
    """Return the row that HMGET answered; a key that does not exist looks like a hash without any of the fields."""
    if all(field is None for field in fields):
        return None
    return tuple(
        None if field is None else _number(field) if column.is_int else str(field, "latin-1")
        for column, field in zip(table.columns, fields, strict=True)
    )


def _number(field: bytes) -> int | None:
    """Return the number; what cannot be read is no number of ours: None, which no generator makes."""
    try:
        return int(field)
    except ValueError:
        return None
