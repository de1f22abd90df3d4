"""The network to another host, on which `dbdyno host --answer` waits: round trips of a byte, and bytes a second."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from dbdyno.observe.gauges.loopback import PATIENCE_S, round_trips
from dbdyno.results.environment import MeasuredNetwork

_ECHO, _TAKE, _GIVE = b"e", b"t", b"g"
_COUNT_BYTES = 8
_CHUNK = bytes(1 << 18)
_IDLE_S = 60.0
"""A connection on which nothing happens for so long is closed."""


def answer(listener: socket.socket) -> None:
    """Answer everybody who connects, each on a thread, until this one is interrupted."""
    while True:
        connection, _ = listener.accept()
        Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    # Whoever asked may go at any time.
    with connection, suppress(OSError):
        connection.settimeout(_IDLE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked = connection.recv(1)
        if asked == _ECHO:
            while received := connection.recv(64):
                connection.sendall(received)
        elif asked == _TAKE:
            buffer, taken = bytearray(len(_CHUNK)), 0
            while received_bytes := connection.recv_into(buffer):
                taken += received_bytes
            connection.sendall(taken.to_bytes(_COUNT_BYTES, "big"))
        elif asked == _GIVE:
            while True:
                connection.sendall(_CHUNK)


def measure_network(host: str, port: int, seconds: float) -> MeasuredNetwork:
    """Return round trips of one byte to another host, and bytes per second to it and from it, each for `seconds`.

    Raises OSError if nobody answers there, or not as `dbdyno host --answer` does.
    """
    with _connected(host, port, _ECHO) as connection:
        trips = round_trips(connection, seconds)
    return {
        "to": f"{host}:{port}",
        "round_trip_us": trips,
        "sent_bytes_per_s": round(_sent(host, port, seconds)),
        "received_bytes_per_s": round(_received(host, port, seconds)),
    }


@contextmanager
def _connected(host: str, port: int, asked: bytes) -> Iterator[socket.socket]:
    with socket.create_connection((host, port), PATIENCE_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(asked)
        yield connection


def _sent(host: str, port: int, seconds: float) -> float:
    with _connected(host, port, _TAKE) as connection:
        began_s = time.monotonic()
        while time.monotonic() - began_s < seconds:
            connection.sendall(_CHUNK)
        connection.shutdown(socket.SHUT_WR)
        # What arrived counts, not what the kernel still keeps.
        counted = connection.recv(_COUNT_BYTES, socket.MSG_WAITALL)
        if len(counted) < _COUNT_BYTES:
            raise OSError("the other host did not say how many bytes came")
        return int.from_bytes(counted, "big") / (time.monotonic() - began_s)


def _received(host: str, port: int, seconds: float) -> float:
    buffer, taken = bytearray(len(_CHUNK)), 0
    with _connected(host, port, _GIVE) as connection:
        began_s = time.monotonic()
        while time.monotonic() - began_s < seconds:
            if not (received_bytes := connection.recv_into(buffer)):
                raise OSError("the other host stopped sending")
            taken += received_bytes
        return taken / (time.monotonic() - began_s)
