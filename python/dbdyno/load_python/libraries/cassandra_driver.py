"""cassandra-driver: CQL in Python, compiled by Cython in its wheels; statements prepared, one session a process.

A session is shared by the threads of a process, as the library wants it: it has its own thread for the sockets.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import cassandra
from cassandra import ConsistencyLevel, DriverException, OperationTimedOut, ReadTimeout, WriteTimeout
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.connection import ConnectionException
from cassandra.policies import DCAwareRoundRobinPolicy, TokenAwarePolicy
from cassandra.query import PreparedStatement

from dbdyno.load_python import session
from dbdyno.load_python.column import Value
from dbdyno.load_python.failure import Failure
from dbdyno.load_python.libraries.cassandra_nesting import bound_nesting
from dbdyno.load_python.libraries.dbapi import statement, table_name
from dbdyno.load_python.table import Row, Table
from dbdyno.load_python.workloads import Step

ERRORS = (DriverException, NoHostAvailable, ConnectionException, OSError)


def failure_of(error: Exception) -> Failure:
    """Return what an exception of the driver means."""
    text = f"{type(error).__name__}: {error}"
    match error:
        case OperationTimedOut() | ReadTimeout() | WriteTimeout():
            return Failure("timeout", text)
        case NoHostAvailable() | ConnectionException() | OSError():
            return Failure("connection", text)
        case DriverException():
            return Failure("server", text)
    return Failure("protocol", text)


class _Shared:
    """The cluster and session that the clients of this process share, and the number of clients."""

    lock = Lock()
    cluster: Cluster | None = None
    session: Any = None
    clients = 0


def _cluster_of(endpoint: session.Endpoint) -> Cluster:
    bound_nesting()
    login = PlainTextAuthProvider(endpoint.user, endpoint.password) if endpoint.user else None
    profile = ExecutionProfile(
        TokenAwarePolicy(DCAwareRoundRobinPolicy()),
        consistency_level=ConsistencyLevel.name_to_value[endpoint.consistency or "ONE"],
        request_timeout=endpoint.timeout_s,
        row_factory=tuple_of,
    )
    return Cluster(
        [endpoint.host],
        endpoint.port,
        auth_provider=login,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        protocol_version=4,
        connect_timeout=endpoint.timeout_s,
    )


def tuple_of(names: list[str], rows: list[tuple[Value, ...]]) -> list[tuple[Value, ...]]:
    """Return rows as they are decoded: no other form of them costs less."""
    del names
    return rows


class Session(session.Session):
    """One client of the process's session; its statements are prepared there once."""

    def __init__(self, endpoint: session.Endpoint, steps: tuple[Step, ...]) -> None:
        super().__init__(endpoint, steps)
        self._is_open = True
        with _Shared.lock:
            try:
                if _Shared.cluster is None:
                    _Shared.cluster = _cluster_of(endpoint)
                    _Shared.session = _Shared.cluster.connect()
                self._session = _Shared.session
                self._statements = [self._prepare(step) for step in steps]
            except ERRORS as error:
                if _Shared.clients == 0:
                    _shut_down()
                raise Failure("connect", failure_of(error).message) from None
            _Shared.clients += 1

    def _prepare(self, step: Step) -> PreparedStatement | None:
        if step.operation not in ("get", "find", "update"):
            return None
        cql = statement(step).replace("%s", "?").replace("dbdyno_", f"{self.endpoint.database}.dbdyno_")
        return self._session.prepare(cql)

    @staticmethod
    def version() -> str:
        return f"cassandra-driver {cassandra.__version__}"

    def _read(self, step: int, value: Value) -> Row | None:
        try:
            rows = self._session.execute(self._statements[step], (value,)).all()
        except ERRORS as error:
            raise failure_of(error) from None
        if len(rows) > 1:
            raise Failure("mismatch", f"{len(rows)} rows instead of one")
        return rows[0] if rows else None

    def get(self, step: int, key: int) -> Row | None:
        return self._read(step, key)

    def find(self, step: int, value: Value) -> Row | None:
        return self._read(step, value)

    def update(self, step: int, key: int, version: int) -> bool:
        values = [column.value(key, version) for column in self.steps[step].table.versioned]
        try:
            self._session.execute(self._statements[step], (*values, key))
        except ERRORS as error:
            raise failure_of(error) from None
        return True

    def add(self, step: int, key: int, delta: int) -> bool:
        raise Failure("server", "cassandra can only add to a counter column")

    def count(self, table: Table, rows: int) -> int | None:
        try:
            counted = self._session.execute(f"SELECT COUNT(*) FROM {self.endpoint.database}.{table_name(table)}")
        except ERRORS as error:
            raise failure_of(error) from None
        return int(counted.all()[0][0])

    def total(self, table: Table, column: str, rows: int) -> int | None:
        return None

    def close(self) -> None:
        with _Shared.lock:
            if self._is_open:
                self._is_open = False
                _Shared.clients -= 1
                if _Shared.clients == 0:
                    _shut_down()


def _shut_down() -> None:
    if _Shared.cluster is not None:
        _Shared.cluster.shutdown()
        _Shared.cluster = None
