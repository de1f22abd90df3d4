"""Connections by PyMySQL: encrypted if requested, and not otherwise."""

import gc
from dataclasses import replace
from pathlib import Path

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


def test_a_failed_attempt_leaves_no_socket_open_until_python_collects(tmp_path):
    gc.disable()
    try:
        before = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(20):
            with pytest.raises(pymysql.OperationalError):
                connect(Endpoint(socket=str(tmp_path / "nobody.sock")))
        assert len(list(Path("/proc/self/fd").iterdir())) == before
    finally:
        gc.enable()
