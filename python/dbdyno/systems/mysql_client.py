"""Connections to a server of the MySQL protocol by PyMySQL: settings, counters, readiness, whole tables."""

from typing import Any

import pymysql

from dbdyno.systems.endpoint import CONNECT_TIMEOUT_S, Endpoint


def connect(place: Endpoint, **more: Any) -> pymysql.Connection:
    """Return a connection; more: what else PyMySQL is told. Raises pymysql.MySQLError, OSError.

    It has TLS where the endpoint has, and else none, so that a server that insists on it refuses dbdyno as it will
    refuse the load client.
    """
    encryption = {"ssl": place.tls.context()} if place.tls else {"ssl_disabled": True}
    return pymysql.connect(
        host=place.host,
        port=place.port,
        unix_socket=place.socket,
        user=place.user or "root",
        password=place.password or "",
        connect_timeout=CONNECT_TIMEOUT_S,
        **encryption,
        **more,
    )
