"""A real answering side on loopback; one that says nothing, or ends too soon, is an error."""

import socket
from contextlib import suppress
from threading import Thread
from types import SimpleNamespace

import pytest

from dbdyno.observe.gauges import network
from dbdyno.observe.gauges.network import answer, measure_network


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening
        listening.shutdown(socket.SHUT_RDWR)


def in_background(work, listener):
    def until_shut_down():
        with suppress(OSError):
            work(listener)

    Thread(target=until_shut_down, daemon=True).start()
    return listener.getsockname()


def test_round_trips_and_bytes_go_both_ways(listener):
    host, port = in_background(answer, listener)
    measured = measure_network(host, port, 0.05)
    assert measured["to"] == f"{host}:{port}" and measured["round_trip_us"]["p50"] > 0
    assert measured["sent_bytes_per_s"] > 0 and measured["received_bytes_per_s"] > 0


def test_what_the_other_side_counted_is_what_came(listener, monkeypatch):
    host, port = in_background(answer, listener)
    sent = []
    real = socket.socket.sendall
    monkeypatch.setattr(socket.socket, "sendall", lambda self, data: (sent.append(len(data)), real(self, data))[1])
    clock = iter((0.0, 0.0, 0.1, 1.0, 2.0))
    monkeypatch.setattr(network, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    rate = network._sent(host, port, 0.5)
    assert rate == pytest.approx(sum(size for size in sent if size == len(network._CHUNK)) / 2.0)


@pytest.mark.parametrize("measured", [network._sent, network._received])
def test_another_program_that_hangs_up_is_an_error(listener, measured):
    def hang_up(listening):
        listening.accept()[0].close()

    host, port = in_background(hang_up, listener)
    with pytest.raises(OSError):
        measured(host, port, 0.05)


def test_an_echo_that_ends_is_an_error(listener):
    def swallow(listening):
        connection, _ = listening.accept()
        connection.recv(2)
        connection.close()

    host, port = in_background(swallow, listener)
    with pytest.raises(OSError):
        measure_network(host, port, 0.05)
