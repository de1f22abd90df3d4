"""PyMySQL: the MySQL protocol in Python alone."""

from importlib.metadata import version as installed_version
from typing import Any

import pymysql
from pymysql.constants import CLIENT

from dbdyno.load_python.libraries.dbapi import DbApiSession
from dbdyno.load_python.session import Place


class Session(DbApiSession):
    """A connection of PyMySQL with its default, buffered cursor."""

    error = pymysql.MySQLError

    @staticmethod
    def version() -> str:
        return f"PyMySQL {installed_version('pymysql')}"

    def connect(self, place: Place) -> Any:
        return pymysql.connect(
            host=place.host,
            port=place.port,
            unix_socket=place.socket,
            user=place.user,
            password=place.password or "",
            database=place.database,
            charset="utf8mb4",
            autocommit=True,
            client_flag=CLIENT.FOUND_ROWS,
            connect_timeout=place.timeout_s,
            read_timeout=place.timeout_s,
            write_timeout=place.timeout_s,
        )
