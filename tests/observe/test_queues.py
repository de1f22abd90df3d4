"""Bytes queued in the sockets of real connections count on the side where they wait."""

import os
import socket

import pytest

from dbdyno.observe.queues import SocketQueues, is_local, listener, socket_listener


@pytest.fixture
def connections():
    """A listening socket, and five connections to it: client ends, server ends."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        pairs = []
        for _ in range(5):
            client = socket.create_connection(listening.getsockname())
            pairs.append((client, listening.accept()[0]))
        yield listening.getsockname()[1], [client for client, _ in pairs], [server for _, server in pairs]
        for pair in pairs:
            for end in pair:
                end.close()


def look(port, times=2):
    queues = SocketQueues("mine", "127.0.0.1", port, {})
    for _ in range(times):
        queues.look()
    seen = queues.take()
    assert queues.take() == {}
    queues.close()
    queues.look()
    assert queues.take() == {}
    return {name.removeprefix("queue.mine."): value for name, value in seen.items()}


def test_what_is_unread_is_counted_where_it_waits(connections):
    port, clients, servers = connections
    for client in clients[:3]:
        client.sendall(b"a request")
    servers[4].sendall(b"an answer")
    seen = look(port)
    assert (seen["unread_requests"], seen["unread_answers"], seen["whole_connections"]) == (3, 1, 5)
    assert seen["requests_in_transit"] == seen["answers_in_transit"] == 0
    assert 0 < seen["min_rtt_s"] < 1
    for server in servers[:3]:
        server.recv(100)
    assert look(port)["unread_requests"] == 0


def test_of_clients_on_other_hosts_the_servers_ends_are_seen(connections):
    port, clients, _ = connections
    clients[0].sendall(b"a request")
    queues = SocketQueues("mine", "127.0.0.1", port, not_seen := {}, clients_elsewhere=True)
    for _ in range(2):
        queues.look()
    assert queues.take() == {"queue.mine.unread_requests": 1.0}
    queues.close()
    assert not_seen == {"queue.mine.unread_answers": "the clients are on other hosts"}
    neither = SocketQueues("mine", "192.0.2.1", port, {}, clients_elsewhere=True)
    neither.look()
    assert neither.take() == {}
    neither.close()


def test_a_full_receiver_leaves_the_rest_on_the_way(connections):
    port, clients, _ = connections
    clients[0].setblocking(False)
    with pytest.raises(BlockingIOError):
        while True:
            clients[0].send(bytes(1 << 20))
    assert look(port)["requests_in_transit"] == 1


def test_an_idle_connection_is_nowhere(connections):
    seen = look(connections[0])
    assert {name: value for name, value in seen.items() if name != "min_rtt_s"} == {
        "unread_requests": 0,
        "unread_answers": 0,
        "requests_in_transit": 0,
        "answers_in_transit": 0,
        "whole_connections": 5,
    }


def test_the_listener_of_a_port_is_found(connections):
    assert listener("127.0.0.1", connections[0]) == os.getpid()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert listener("127.0.0.1", unused.getsockname()[1]) is None


def test_a_server_on_another_host_shows_only_the_clients_ends():
    not_seen = {}
    queues = SocketQueues("far", "192.0.2.77", 9, not_seen)
    queues.look()
    assert not_seen == {"queue.far.unread_requests": "the server is on another host"}
    assert queues.take() == {"queue.far.unread_answers": 0}
    queues.close()
    assert not is_local("192.0.2.77") and listener("192.0.2.77", 9) is None
    assert not is_local("no-such-host.invalid")


def test_the_listener_of_a_unix_socket_is_found(tmp_path):
    path = str(tmp_path / "a socket")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        assert socket_listener(path) is None, "it takes no connections yet"
        server.listen()
        client.connect(path)
        assert socket_listener(path) == os.getpid()
    assert socket_listener(path) is None
