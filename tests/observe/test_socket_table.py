"""The kernel's list of sockets says what this test has put into them."""

import socket

import pytest

from dbdyno.observe.socket_table import LISTENING, SocketTable


@pytest.fixture(params=["127.0.0.1", "::1"])
def pair(request):
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    try:
        listening = socket.create_server((request.param, 0), family=family)
    except OSError:
        pytest.skip(f"this host has no {request.param}")
    with listening, socket.create_connection(listening.getsockname()[:2]) as client, listening.accept()[0] as server:
        yield listening.getsockname()[1], client, server


def test_bytes_are_counted_where_they_are(pair):
    port, client, server = pair
    with SocketTable() as table:
        before = table.sockets(local_port=port)
        client.sendall(b"x" * 1000)
        server.sendall(b"y" * 10)
        sent, came = table.sockets(remote_port=port), table.sockets(local_port=port)
        assert len(before) == len(sent) == len(came) == 1
        assert (before.unread_bytes[0], came.unread_bytes[0], sent.unread_bytes[0]) == (0, 1000, 10)
        assert came.received_bytes[0] - before.received_bytes[0] == 1000
        assert sent.local_port[0] == came.remote_port[0] == client.getsockname()[1]
        assert sent.written_bytes[0] >= 1000 and 0 < sent.min_rtt_s[0] < 1
        server.recv(400)
        assert table.sockets(local_port=port).unread_bytes[0] == 600


def test_who_listens_is_listed_with_the_number_of_its_socket(pair):
    port, _, _ = pair
    with SocketTable() as table:
        listening = table.sockets(local_port=port, states=LISTENING)
        assert len(listening) == 1 and listening.inode[0] > 0
        assert len(table.sockets(local_port=port, remote_port=1)) == 0
