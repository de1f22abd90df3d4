"""Connections by PyMySQL: encrypted if requested, and not otherwise."""

from dataclasses import replace

import pymysql
import pytest

from dbdyno.systems.mysql.client import connect
from dbdyno.systems.running.endpoint import Endpoint


def cipher(endpoint):
    with connect(endpoint) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        return cursor.fetchone()[1]


def test_a_connection_is_encrypted_where_that_was_asked_for(started):
    endpoint = started("mariadb?tls=on").endpoint
    assert cipher(endpoint) and not cipher(replace(endpoint, tls=None))


def test_what_else_is_wanted_is_handed_on(started):
    with connect(started("mariadb").endpoint, autocommit=True) as connection:
        assert connection.get_autocommit()


def test_nobody_is_asked_for_long():
    with pytest.raises(pymysql.OperationalError, match="refused"):
        connect(Endpoint("127.0.0.1", 1))
