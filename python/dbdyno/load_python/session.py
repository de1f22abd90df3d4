"""The interface of client libraries for a workload, and their list: one file each in `libraries`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from dbdyno.contract import StoreDocument
from dbdyno.load_python.column import Value
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.shared_library import refuse_another
from dbdyno.load_python.table import Row, Table
from dbdyno.load_python.workloads import Step, Workload

LIBRARIES = {
    "pymysql": "mysql",
    "mysqlclient": "mysql",
    "psycopg": "postgres",
    "redis-py": "redis",
    "pymemcache": "memcached",
    "pymongo": "mongodb",
    "cassandra-driver": "cassandra",
}
"""The libraries there are, and the kind of store each speaks to."""
_MODULES = {
    "pymysql": "pymysql",
    "mysqlclient": "mysqlclient",
    "psycopg": "psycopg",
    "redis-py": "redis_py",
    "pymemcache": "pymemcache",
    "pymongo": "pymongo",
    "cassandra-driver": "cassandra_driver",
}


@dataclass(frozen=True)
class Endpoint:
    """The address of a store and the login; socket: the path of a Unix socket, else host and port.

    database: of Cassandra, the keyspace. consistency: its level, of Cassandra alone. auth_database: of MongoDB, the one
    that knows the user.
    layout: how Redis holds a row, `string` or `hash`. timeout_s: of connecting and of every operation.
    """

    host: str | None
    port: int
    socket: str | None
    user: str | None
    password: str | None
    database: str | None
    layout: str | None
    timeout_s: float
    consistency: str | None = None
    auth_database: str | None = None


class Session(ABC):
    """One client's open session with a store, by way of a library. `step` is the index of a step of the workload.

    Every method raises Failure. Reads return None, writes False, where the row is not there and the store can tell.
    is_hit: whether a cache had the last row that was read; None if there is no cache.
    """

    is_hit: bool | None = None

    def __init__(self, endpoint: Endpoint, steps: tuple[Step, ...]) -> None:
        """Connect, so that the first operation finds an open connection; raises Failure `connect`."""
        self.endpoint = endpoint
        self.steps = steps

    @staticmethod
    @abstractmethod
    def version() -> str:
        """Return the library's name and version, with what it is made of if that decides its speed."""

    @abstractmethod
    def get(self, step: int, key: int) -> Row | None:
        """Read the row with primary key `key`."""

    @abstractmethod
    def find(self, step: int, value: Value) -> Row | None:
        """Read the one row with this value in the step's column."""

    @abstractmethod
    def update(self, step: int, key: int, version: int) -> bool:
        """Store version `version` of row `key`, and wait until that is acknowledged."""

    @abstractmethod
    def add(self, step: int, key: int, delta: int) -> bool:
        """Add `delta` to the step's column of row `key`, atomically."""

    @abstractmethod
    def count(self, table: Table, rows: int) -> int | None:
        """Count the rows of a table into which `rows` were loaded; None if the store cannot tell."""

    @abstractmethod
    def total(self, table: Table, column: str, rows: int) -> int | None:
        """Sum a column of whole numbers; None if the store cannot tell."""

    @abstractmethod
    def close(self) -> None:
        """End the session, whatever state it is in; raises nothing."""


class Cache(Session):
    """A session with a store that can stand in front of another one."""

    @abstractmethod
    def fill(self, step: int, value: Value, row: Row) -> None:
        """Keep a row under the value in the step's column."""

    @abstractmethod
    def forget(self, step: int, key: int) -> None:
        """Remove row `key`, if it is there."""


def find_library(library: str, kind: str, c_library: str | None) -> type[Session]:
    """Return a library for a kind of store.

    Raises Ended if there is none, it is not installed, or speaks to other stores.
    """
    _check_name(library)
    if kind != LIBRARIES[library]:
        able = [name for name, spoken in LIBRARIES.items() if spoken == kind]
        others = ", ".join(able) or "only the native client"
        raise Ended("refused", f"{library} does not speak to {kind}: {others} does")
    return load_library(library, c_library)


def load_library(library: str, c_library: str | None) -> type[Session]:
    """Return a library; raises Ended if it is not installed, or does not load the C library at a path."""
    _check_name(library)
    if c_library:
        # psycopg's compiled implementation has its own libpq.
        os.environ["PSYCOPG_IMPL"] = "python"
    try:
        module = import_module(f"dbdyno.load_python.libraries.{_MODULES[library]}")
    except ImportError as error:
        extra = library.removesuffix("-py").removesuffix("-driver")
        raise Ended("refused", f"{library} is not installed ({error}): pip install 'dbdyno[{extra}]'") from None
    if c_library:
        refuse_another(library, c_library)
    return cast(type[Session], module.Session)


def _check_name(library: str) -> None:
    if library not in LIBRARIES:
        raise Ended("refused", f"library = {library!r}: there are {', '.join(LIBRARIES)}")


def find_endpoint(store: StoreDocument, workload: Workload, timeout_s: float) -> Endpoint:
    """Return the endpoint of a plan's store."""
    address = store["address"]
    layout = store.get("layout")
    if layout == "auto":
        layout = "hash" if any(step.operation == "add" for step in workload.steps) else "string"
    database = store.get("database", store.get("keyspace"))
    return Endpoint(
        address.get("host"),
        address.get("port", 0),
        address.get("unix"),
        store.get("user"),
        store.get("password"),
        None if database is None else str(database),
        layout,
        timeout_s,
        store.get("consistency"),
        store.get("auth_database"),
    )


def batches(table: Table, rows: int, size: int = 500) -> Iterable[list[str]]:
    """Yield the names a key-value store files the rows of a table under, some at a time."""
    for first in range(1, rows + 1, size):
        yield [table.store_key_of(key) for key in range(first, min(first + size, rows + 1))]
