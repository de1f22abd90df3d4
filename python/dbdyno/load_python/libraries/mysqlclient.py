"""mysqlclient (MySQLdb): the MySQL protocol by way of the C library of MariaDB or MySQL."""

import math
from importlib.metadata import version as installed_version
from typing import Any

import MySQLdb
from MySQLdb.constants import CLIENT

from dbdyno.load_python.libraries.dbapi import DbApiSession
from dbdyno.load_python.session import Place


class Session(DbApiSession):
    """A connection of MySQLdb with its default, buffered cursor."""

    error = MySQLdb.MySQLError

    @staticmethod
    def version() -> str:
        return f"mysqlclient {installed_version('mysqlclient')} (C library {MySQLdb.get_client_info()})"

    def connect(self, place: Place) -> Any:
        whole_s = math.ceil(place.timeout_s)
        where = {"unix_socket": place.socket} if place.socket else {"host": place.host, "port": place.port}
        return MySQLdb.connect(
            **where,
            user=place.user,
            password=place.password or "",
            database=place.database,
            charset="utf8mb4",
            autocommit=True,
            client_flag=CLIENT.FOUND_ROWS,
            connect_timeout=whole_s,
            read_timeout=whole_s,
            write_timeout=whole_s,
        )
