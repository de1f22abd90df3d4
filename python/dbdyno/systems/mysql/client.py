"""Connections to a server of the MySQL protocol by PyMySQL: settings, counters, readiness, whole tables."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbdyno.later import LaterModule
from dbdyno.load_python.clear_passwords import CLEAR_PASSWORDS_REFUSED
from dbdyno.systems.answers import Answer
from dbdyno.systems.running.endpoint import CONNECT_TIMEOUT_S, Endpoint
from dbdyno.systems.witness import Versions, nothing_of

if TYPE_CHECKING:
    import pymysql
else:
    pymysql = LaterModule("pymysql")


def connect(endpoint: Endpoint, **more: Any) -> pymysql.Connection:
    """Return a connection; more: further arguments of PyMySQL. Raises pymysql.MySQLError, OSError.

    It has TLS where the endpoint has, and else none, so that a server that insists on it refuses dbdyno as it will
    refuse the load client.
    """
    encryption = {"ssl": endpoint.tls.context()} if endpoint.tls else {"ssl_disabled": True}
    try:
        return pymysql.connect(
            host=endpoint.host,
            port=endpoint.port,
            unix_socket=endpoint.socket,
            user=endpoint.user or "root",
            password=endpoint.password or "",
            connect_timeout=CONNECT_TIMEOUT_S,
            **encryption,
            **CLEAR_PASSWORDS_REFUSED,
            **more,
        )
    except pymysql.MySQLError as error:
        # PyMySQL leaves the socket of a failed attempt open until Python collects the error, which holds its frame.
        traceback.clear_frames(error.__traceback__)
        raise


def ask(endpoint: Endpoint, statement: str) -> list[Answer]:
    """Return the rows of an answer, column to value, over its own connection; raises as `connect`."""
    with (
        connect(endpoint, autocommit=True, cursorclass=pymysql.cursors.DictCursor) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
        return list(cursor.fetchall())


def row_versions(endpoint: Endpoint, tables: Mapping[str, int]) -> Versions:
    """Return the columns `id` and `version` of each table, of so many rows; raises as `connect`."""
    versions = nothing_of(tables)
    with (
        connect(endpoint, database=endpoint.database, cursorclass=pymysql.cursors.SSCursor) as connection,
        connection.cursor() as cursor,
    ):
        for table, rows in versions.items():
            cursor.execute(f"SELECT id, version FROM `{table}`")
            for key, version in cursor:
                rows[key] = version
    return versions
