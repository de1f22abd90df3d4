"""Answers are read as a driver reads them, and whatever goes wrong meanwhile is said."""

import socket
from collections import Counter
from types import SimpleNamespace

import pymysql
import pytest

from dbdyno.systems.base import Launch
from dbdyno.systems.mysql.text import LIST, Connections, answer, columns
from dbdyno.systems.mysql.text import _ask as ask
from dbdyno.systems.running.guard import Guard
from helpers import need, system, wait_until

NULL = b"\xfb"
END = b"\xfe\0\0\2\0"


@pytest.fixture
def endpoint(tmp_path):
    need("mariadb")
    with Guard() as guard:
        server = system("mariadb")
        server.start(Launch(guard, tmp_path, clients=16, rows=100))
        yield server.endpoint
        server.stop()


def test_it_counts_what_a_driver_reads(endpoint):
    login = {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "password": endpoint.password}
    asking, *others = (pymysql.connect(**login) for _ in range(5))
    # A connection that has just come is doing something else for a moment.
    connections = Connections(asking)
    counts = wait_until(lambda: (seen := connections.count(5)).get(("Sleep", "")) == 4 and seen)
    assert connections._counted_at_once(heard(asking)) == counts
    with asking.cursor() as cursor:
        cursor.execute(LIST)
        rows = cursor.fetchall()
    assert counts == Counter((row[4], row[6] or "") for row in rows if row[0] != asking.thread_id())
    assert [columns(row, 2) for row in answer(asking, "SELECT NULL, 'x' UNION SELECT 17, REPEAT('y', 70000)", 5)] == [
        [b"", b"x"],
        [b"17", b"y" * 70_000],
    ]
    # The connection is as good as before.
    with asking.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    others[0].close()
    asking.close()
    with pytest.raises(pymysql.err.Error):
        connections.count(5)


def heard(connection):
    """Return an answer as it comes."""
    ask(connection, LIST, 5)
    return connection._sock.recv(1 << 16)


def packet(number, content):
    return len(content).to_bytes(3, "little") + bytes([number % 256]) + content


def text(value):
    return (bytes([len(value)]) if len(value) < 251 else b"\xfc" + len(value).to_bytes(2, "little")) + value


def row(number, command, state, user=b"u", info=NULL, time_s=b"0"):
    before = text(str(number).encode()) + text(user) + text(b"localhost") + NULL
    return before + text(command) + text(time_s) + state + info


@pytest.fixture
def answering():
    """Return a function that gives a connection to a server which has answered some bytes already."""
    ends = []

    def answering(content, closed=False):
        ours, theirs = socket.socketpair()
        ends.extend((ours, theirs))
        theirs.sendall(content)
        if closed:
            theirs.shutdown(socket.SHUT_WR)
        return SimpleNamespace(_sock=ours, thread_id=lambda: 7)

    yield answering
    for end in ends:
        end.close()


def answer_of(*rows):
    head = (b"\x08", *(b"a column",) * 8, END)
    return b"".join(packet(number, content) for number, content in enumerate((*head, *rows, END), 1))


OWN = row(7, b"Query", text(b"starting"), info=text(LIST.encode()))
UPDATING = text(b"Updating")


def test_long_values_nothing_and_its_own_connection(answering):
    rows = row(1, b"Sleep", NULL), OWN, row(8, b"Query", UPDATING, b"u" * 300)
    counts = Connections(answering(answer_of(*rows))).count(1)
    assert counts == {("Sleep", ""): 1, ("Query", "Updating"): 1}


@pytest.mark.parametrize(
    ("others", "at_once"),
    [
        ([row(1, b"Sleep", NULL, time_s=b"17"), row(8, b"Execute", UPDATING, info=text(b"UPDATE t SET c = ?"))], True),
        ([row(300 + number, b"Binlog Dump", text(b"Has sent all of it")) for number in range(300)], True),
        ([row(1, b"Sleep", text(b"")), row(8, b"Query", text(b"Waiting for " + b"x" * 36))], True),
        # Values that look like rows, and those that hide one.
        ([row(1, b"Query", UPDATING, info=text(b"/* \x05Sleep\x010\0 */"))], False),
        ([row(1, b"select", UPDATING, info=text(b"\x1fAb\x010\0"))], False),
        ([row(1, b"select", UPDATING, info=text(b"\x03Abc\x02x\0"))], False),
        ([row(1, b"Sleep", NULL, b"Root\x0210")], False),
        ([row(1, b"Query", text(b"Waiting \t for it"))], False),
        ([row(1, b"Query", text(b"w" * 300))], False),
        ([row(1, b"select", UPDATING)], False),
        ([row(1, b"Query", text(b"Waiting for " + b"x" * 34))], False),
    ],
)
def test_all_are_counted_at_once_where_that_is_certain_to_be_right(answering, monkeypatch, others, at_once):
    whole = answer_of(OWN, *others)
    connections = Connections(answering(whole + whole))
    connections._connection._sock.recv(len(whole))
    connections._own = ("Query", "starting")
    exact = Connections(answering(whole)).count(1)
    assert sum(exact.values()) == len(others)
    counts = connections._counted_at_once(whole)
    assert counts == (exact if at_once else None)
    assert connections.count(1) == exact


def test_it_is_not_counted_at_once_before_its_own_connection_is_known(answering):
    whole = answer_of(row(1, b"Query", text(b"starting")), OWN)
    connections = Connections(answering(whole))
    assert connections._counted_at_once(whole) is None
    assert connections.count(1) == connections._counted_at_once(whole) == {("Query", "starting"): 1}


def test_an_answer_in_many_parts(answering):
    rows = [row(100 + number, b"Query", text(b"Sending data")) for number in range(2000)]
    connection = answering(answer_of(OWN, *rows))
    whole = connection._sock
    connection._sock = SimpleNamespace(
        settimeout=whole.settimeout, sendall=whole.sendall, recv=lambda _: whole.recv(1009)
    )
    assert Connections(connection).count(1) == {("Query", "Sending data"): 2000}


def test_a_refusal_is_the_servers_own(answering):
    refused = b"\xff" + (1045).to_bytes(2, "little") + b"#28000Access denied"
    with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
        Connections(answering(packet(1, refused))).count(1)


@pytest.mark.parametrize("closed", [True, False])
def test_an_answer_without_an_end(answering, closed):
    half = answer_of(row(1, b"Sleep", NULL))[:-3]
    with pytest.raises(pymysql.MySQLError if closed else TimeoutError):
        Connections(answering(half, closed)).count(0.2)
