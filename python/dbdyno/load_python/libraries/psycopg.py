"""psycopg: the PostgreSQL protocol by way of the C library libpq."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import psycopg

from dbdyno.load_python.failure import Failure
from dbdyno.load_python.libraries.dbapi import DbApiSession
from dbdyno.load_python.session import Endpoint

_DISK_FULL = "53100"
_ENDS_CONNECTION = ("08", "57P")
"""The beginnings of codes (SQLSTATE) with which a server closes a connection."""


class Session(DbApiSession):
    """A connection of psycopg with its defaults: it prepares a statement when it executes it for the fifth time."""

    error = psycopg.Error

    @staticmethod
    def version() -> str:
        number = psycopg.pq.version()
        implementation = psycopg.pq.__impl__
        return f"psycopg {psycopg.__version__} ({implementation}; C library {number // 10000}.{number % 10000})"

    def connect(self, endpoint: Endpoint) -> Any:
        host, port = endpoint.host, endpoint.port
        if endpoint.socket:
            # libpq takes the socket's directory, and a port by which the socket is named.
            socket = Path(endpoint.socket)
            host, port = str(socket.parent), int(socket.suffix.removeprefix("."))
        return psycopg.connect(
            host=host,
            port=port,
            user=endpoint.user,
            password=endpoint.password,
            dbname=endpoint.database,
            autocommit=True,
            connect_timeout=math.ceil(endpoint.timeout_s),
            sslmode="disable",
            gssencmode="disable",
        )

    def failure(self, error: Exception) -> Failure:
        code = error.sqlstate if isinstance(error, psycopg.Error) else None
        if code == _DISK_FULL:
            return Failure("full", str(error))
        is_lost = code.startswith(_ENDS_CONNECTION) if code else isinstance(error, psycopg.OperationalError)
        if is_lost:
            return Failure("connection", str(error))
        return Failure("server" if code else "protocol", str(error))
