"""PyMongo: the MongoDB protocol in Python, its documents in C if that was compiled; a row is a document."""

from __future__ import annotations

from typing import Any

import pymongo
from pymongo.collection import Collection
from pymongo.errors import ConnectionFailure, NetworkTimeout, OperationFailure, PyMongoError

from dbdyno.load_python import session
from dbdyno.load_python.column import Value
from dbdyno.load_python.failure import Failure, not_understood
from dbdyno.load_python.libraries.dbapi import table_name
from dbdyno.load_python.table import Row, Table
from dbdyno.load_python.workloads import Step


def failure_of(error: Exception) -> Failure:
    """Return what an exception of PyMongo means."""
    text = str(error)
    match error:
        case NetworkTimeout():
            return Failure("timeout", text)
        case ConnectionFailure():
            return Failure("connection", text)
        case OperationFailure():
            return Failure("server", text)
    return not_understood(error, text)


def _fields_of(table: Table) -> tuple[str, ...]:
    """Return what a row's columns are called in its document: the key is `_id`."""
    return ("_id", *(column.name for column in table.columns[1:]))


class Session(session.Session):
    """A separate `MongoClient`, as the library makes it but for time-outs, and without retrying behind the scenes."""

    def __init__(self, endpoint: session.Endpoint, steps: tuple[Step, ...]) -> None:
        super().__init__(endpoint, steps)
        late_ms = round(endpoint.timeout_s * 1000)
        login: dict[str, Any] = {
            "username": endpoint.user,
            "password": endpoint.password,
            "authSource": endpoint.auth_database,
        }
        self._client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(
            endpoint.socket or endpoint.host,
            endpoint.port,
            directConnection=True,
            retryReads=False,
            retryWrites=False,
            connectTimeoutMS=late_ms,
            socketTimeoutMS=late_ms,
            serverSelectionTimeoutMS=late_ms,
            **(login if endpoint.user else {}),
        )
        self._collections = [self._collection(step.table) for step in steps]
        self._fields = [_fields_of(step.table) for step in steps]
        try:
            self._client[str(endpoint.database)].command("ping")
        except PyMongoError as error:
            self._client.close()
            raise Failure("connect", failure_of(error).message) from None

    def _collection(self, table: Table) -> Collection[dict[str, Any]]:
        return self._client[str(self.endpoint.database)][table_name(table)]

    @staticmethod
    def version() -> str:
        return f"PyMongo {pymongo.version} (documents {'in C' if pymongo.has_c() else 'in Python'})"

    def get(self, step: int, key: int) -> Row | None:
        return self._read(step, "_id", key)

    def find(self, step: int, value: Value) -> Row | None:
        return self._read(step, self._fields[step][self.steps[step].column], value)

    def _read(self, step: int, field: str, value: Value) -> Row | None:
        try:
            document = self._collections[step].find_one({field: value})
        except PyMongoError as error:
            raise failure_of(error) from None
        return None if document is None else tuple([document.get(name) for name in self._fields[step]])

    def update(self, step: int, key: int, version: int) -> bool:
        changed = {column.name: column.value(key, version) for column in self.steps[step].table.versioned}
        return self._change(step, key, {"$set": changed})

    def add(self, step: int, key: int, delta: int) -> bool:
        return self._change(step, key, {"$inc": {self._fields[step][self.steps[step].column]: delta}})

    def _change(self, step: int, key: int, change: dict[str, dict[str, Value]]) -> bool:
        try:
            return self._collections[step].update_one({"_id": key}, change).matched_count == 1
        except PyMongoError as error:
            raise failure_of(error) from None

    def count(self, table: Table, rows: int) -> int | None:
        try:
            return self._collection(table).count_documents({})
        except PyMongoError as error:
            raise failure_of(error) from None

    def total(self, table: Table, column: str, rows: int) -> int | None:
        try:
            (group,) = self._collection(table).aggregate([{"$group": {"_id": None, "sum": {"$sum": f"${column}"}}}])
        except PyMongoError as error:
            raise failure_of(error) from None
        return int(group["sum"])

    def close(self) -> None:
        self._client.close()
