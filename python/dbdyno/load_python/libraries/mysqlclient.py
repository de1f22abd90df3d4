"""mysqlclient (MySQLdb): the MySQL protocol by way of the C library of MariaDB or MySQL."""

import math
from importlib.metadata import version as installed_version
from typing import Any

import MySQLdb
from MySQLdb.constants import CLIENT

from dbdyno.load_python.libraries.dbapi import DbApiSession
from dbdyno.load_python.session import Endpoint


class Session(DbApiSession):
    """A connection of MySQLdb with its default, buffered cursor."""

    error = MySQLdb.MySQLError

    @staticmethod
    def version() -> str:
        return f"mysqlclient {installed_version('mysqlclient')} (C library {MySQLdb.get_client_info()})"

    def connect(self, endpoint: Endpoint) -> Any:
        whole_s = math.ceil(endpoint.timeout_s)
        where = {"unix_socket": endpoint.socket} if endpoint.socket else {"host": endpoint.host, "port": endpoint.port}
        return MySQLdb.connect(
            **where,
            user=endpoint.user,
            password=endpoint.password or "",
            database=endpoint.database,
            charset="utf8mb4",
            autocommit=True,
            client_flag=CLIENT.FOUND_ROWS,
            connect_timeout=whole_s,
            read_timeout=whole_s,
            write_timeout=whole_s,
        )
