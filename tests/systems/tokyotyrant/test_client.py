"""A ttserver shows itself, and an answer that is none is an error."""

import socket
from threading import Thread

import pytest

from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.tokyotyrant.client import Client


def test_names_and_values_are_read_by_port_and_by_socket(started, program):
    for connect in ("tcp", "socket"):
        server = started(f"tokyotyrant?binary={program}&type=tree&connect={connect}")
        with Client(server.endpoint, 5.0) as client:
            assert client.stat()["type"] == "B+ tree" and client.stat()["version"] == "1.1.41"


@pytest.mark.parametrize("answer", [b"\1\0\0\0\0", b"\0\xff\xff\xff\xff", b"\0\0\0\0\5ver", b""])
def test_what_is_no_answer_is_an_error(answer):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(2)
                connection.sendall(answer)

        Thread(target=serve, daemon=True).start()
        with Client(Endpoint("127.0.0.1", listener.getsockname()[1]), 5.0) as client, pytest.raises(OSError):
            client.stat()
