"""Free ports are below those of outgoing connections, and nobody listens there."""

import socket

import pytest

from dbdyno.systems.running import ports
from dbdyno.systems.running.ports import free_port


@pytest.fixture
def outgoing(tmp_path, monkeypatch):
    """Have the kernel say which ports outgoing connections get."""

    def say(text):
        (tmp_path / "range").write_text(text)
        monkeypatch.setattr(ports, "_OUTGOING_PORTS", tmp_path / "range")

    return say


def test_a_free_port_can_be_listened_at():
    with socket.create_server(("127.0.0.1", free_port())) as listening:
        assert listening.getsockname()[1] > 0


def test_it_is_below_those_of_outgoing_connections(outgoing):
    outgoing("20010 60999\n")
    drawn = {free_port() for _ in range(200)}
    assert drawn <= set(range(20_000, 20_010)) and len(drawn) > 1


@pytest.mark.parametrize("text", ["1024 65535\n", "nonsense", ""])
def test_the_kernel_chooses_if_there_is_no_room(outgoing, text):
    outgoing(text)
    assert free_port() >= 1024


def test_a_port_that_is_taken_is_not_given(outgoing):
    with socket.create_server(("127.0.0.1", free_port())) as listening:
        taken = listening.getsockname()[1]
        outgoing(f"{ports.LOWEST_PORT + 1} 60999\n")
        with socket.create_server(("127.0.0.1", ports.LOWEST_PORT)):
            assert free_port() not in (taken, ports.LOWEST_PORT)


def test_an_address_of_another_host_is_an_error():
    with pytest.raises(OSError, match="assign"):
        free_port("192.0.2.1")
