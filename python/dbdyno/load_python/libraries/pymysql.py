"""PyMySQL: the MySQL protocol in Python alone."""

from importlib.metadata import version as installed_version
from typing import Any

import pymysql
from pymysql.constants import CLIENT

from dbdyno.load_python.clear_passwords import CLEAR_PASSWORDS_REFUSED
from dbdyno.load_python.libraries.dbapi import DbApiSession
from dbdyno.load_python.session import Endpoint


class Session(DbApiSession):
    """A connection of PyMySQL with its default, buffered cursor."""

    error = pymysql.MySQLError

    @staticmethod
    def version() -> str:
        return f"PyMySQL {installed_version('pymysql')}"

    def connect(self, endpoint: Endpoint) -> Any:
        return pymysql.connect(
            host=endpoint.host,
            port=endpoint.port,
            unix_socket=endpoint.socket,
            user=endpoint.user,
            password=endpoint.password or "",
            database=endpoint.database,
            charset="utf8mb4",
            autocommit=True,
            client_flag=CLIENT.FOUND_ROWS,
            connect_timeout=endpoint.timeout_s,
            read_timeout=endpoint.timeout_s,
            write_timeout=endpoint.timeout_s,
            **CLEAR_PASSWORDS_REFUSED,
        )
