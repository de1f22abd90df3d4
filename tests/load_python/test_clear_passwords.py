"""Servers that ask PyMySQL for the password in clear text: it is not sent, whoever asks."""

import io
import json

import pymysql
import pytest

from dbdyno.load_python.failure import Ended, Failure
from dbdyno.load_python.libraries.pymysql import Session
from dbdyno.load_python.session import Endpoint
from dbdyno.load_sysbench.database import owner_of
from dbdyno.load_sysbench.plan import read_plan
from dbdyno.systems.mysql.client import connect
from dbdyno.systems.running import endpoint
from fakes import hostile
from load_python.libraries import checks
from load_sysbench.conftest import STORE, plan_of

PASSWORD = "not-to-be-told"


def by_session(port):
    login = {"user": "u", "password": PASSWORD, "database": "d"}
    return Session(Endpoint("127.0.0.1", port, None, layout=None, timeout_s=5, **login), checks.GAME.steps)


def by_dbdyno(port):
    return connect(endpoint.Endpoint("127.0.0.1", port, user="u", password=PASSWORD))


def by_sysbench(port):
    plan = plan_of(STORE | {"address": {"host": "127.0.0.1", "port": port}, "password": {"secret": 0}})
    return owner_of(read_plan(io.StringIO(f"{json.dumps(plan)}\n{json.dumps({'secrets': [PASSWORD]})}\n")))


@pytest.mark.parametrize("request_", [b"mysql_clear_password\0", b"dialog\0\x02Password: "], ids=["clear", "dialog"])
@pytest.mark.parametrize("log_in", [by_session, by_dbdyno, by_sysbench])
def test_a_password_is_not_sent_in_clear_text(log_in, request_):
    heard = []

    def asks(connection):
        connection.sendall(hostile.mysql_packet(hostile.GREETING, 0))
        heard.append(connection.recv(1 << 16))
        connection.sendall(hostile.mysql_packet(b"\xfe" + request_, 2))
        heard.append(connection.recv(1 << 16))

    with (
        hostile.server(asks) as port,
        pytest.raises((Failure, Ended, pymysql.OperationalError), match="asks for the password in clear text"),
    ):
        log_in(port)
    assert heard[0] and PASSWORD.encode() not in b"".join(heard)
