"""Identifies a server that does not speak the expected protocol by its first bytes, read by a bare socket.

Called after a client library failed there, so that the error says what came instead. It takes at most
`CONNECT_S + ANSWER_S + HTTP_S`, and `MOST_BYTES`.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from dbdyno.systems.running.endpoint import Endpoint

CONNECT_S, ANSWER_S, HTTP_S = 1.0, 1.0, 0.5
MOST_BYTES = 256
_SHOWN_BYTES = 24
_LEAST_BYTES = 4
"""Fewer tell no protocol from another."""
_HTTP_REQUEST = b"\r\nGET / HTTP/1.0\r\n\r\n"


class Protocol(NamedTuple):
    """How to know a protocol: first_bytes are what its client says first; is_answer: whether a server of it said that.

    first_bytes: none if its servers speak first.
    """

    name: str
    first_bytes: bytes
    is_answer: Callable[[bytes], bool]


def _is_mysql(said: bytes) -> bool:
    return len(said) > 5 and said[2:4] == b"\0\0" and (said[4] in (9, 10) or said[4] == 0xFF)


def _is_postgresql(said: bytes) -> bool:
    return said in (b"N", b"S") or (said[:1] == b"E" and len(said) > 5 and said[1:3] == b"\0\0")


def _is_redis(said: bytes) -> bool:
    return said.startswith((b"+PONG\r\n", b"-ERR", b"-NOAUTH", b"-DENIED", b"-LOADING", b"-WRONGPASS", b"-MISCONF"))


def _is_memcached(said: bytes) -> bool:
    return said.startswith((b"VERSION ", b"STAT ", b"ERROR\r\n", b"CLIENT_ERROR ", b"SERVER_ERROR "))


def _is_mongodb(said: bytes) -> bool:
    return len(said) >= 16 and struct.unpack_from("<i", said, 12)[0] in (1, 2013)


def _is_cql(said: bytes) -> bool:
    return len(said) >= 9 and said[0] & 0x80 != 0 and said[0] & 0x7F in range(1, 7) and said[4] in (0, 3, 6)


_HELLO = b"\x10hello\0\x01\0\0\0\x02$db\0\x06\0\0\0admin\0"
_HELLO_DOCUMENT = struct.pack("<i", len(_HELLO) + 5) + _HELLO + b"\0"
_OP_MSG = struct.pack("<iiiiiB", 21 + len(_HELLO_DOCUMENT), 1, 0, 2013, 0, 0) + _HELLO_DOCUMENT
PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol("MySQL", b"", _is_mysql),
        Protocol("PostgreSQL", struct.pack(">ii", 8, 80877103), _is_postgresql),
        Protocol("Redis", b"PING\r\n", _is_redis),
        Protocol("memcached", b"version\r\n", _is_memcached),
        Protocol("MongoDB", _OP_MSG, _is_mongodb),
        Protocol("CQL", b"\x04\0\0\0\x05\0\0\0\0", _is_cql),
    )
}
"""By their names in messages."""
_OTHERS: dict[str, Callable[[bytes], bool]] = {
    "HTTP": lambda said: said.startswith((b"HTTP/", b"<html", b"<!DOCTYPE")),
    "SSH": lambda said: said.startswith(b"SSH-"),
    "TLS": lambda said: said[:2] in (b"\x15\x03", b"\x16\x03"),
    "SMTP or FTP": lambda said: said.startswith((b"220 ", b"220-")),
    "Redis": _is_redis,
    "MySQL": _is_mysql,
    "memcached": _is_memcached,
    "PostgreSQL": lambda said: said.startswith(b"E\0\0") and _is_postgresql(said),
}
"""Protocols recognised by their first bytes, whatever the request was."""


def came_instead(endpoint: Endpoint, name: str) -> str | None:
    """Return what answers there if that is not the protocol `name`, as the rest of a sentence about the address.

    None: it does speak the protocol at first. Raises OSError if nobody is there.
    """
    protocol = PROTOCOLS[name]
    try:
        said = _listen(endpoint, protocol)
    except ConnectionResetError:
        said = b""
    if said is None:
        return f"accepts the connection and sends nothing: check the port, and that a server of {name} runs there"
    if not said:
        todo = "check the port, and whether it wants TLS (tls=required)"
        return f"closes the connection without speaking {name}: {todo}"
    if protocol.is_answer(said):
        return None
    return _describe(said, endpoint, name)


def _describe(said: bytes, endpoint: Endpoint, name: str) -> str | None:
    """Return what the first bytes are that no server of the protocol says; None: TLS, if that was requested."""
    other = next((word for word, is_answer in _OTHERS.items() if is_answer(said)), None)
    if other == "TLS" and endpoint.tls:
        return None
    if other == "TLS":
        return (
            f"wants TLS, and the request came without: check the port, or ask for TLS (tls=required) if this is {name}"
        )
    if other:
        return f"answers {other}, not {name}: check the port"
    if len(said) < _LEAST_BYTES:
        return f"has sent no more than {said!r}: it is very slow, or no server of {name}: check the port"
    return f"does not speak {name}, its answer begins with {said[:_SHOWN_BYTES]!r}: check the port"


def _listen(endpoint: Endpoint, protocol: Protocol) -> bytes | None:
    """Return the first bytes that came; empty: the connection was closed; None: it stayed silent. Raises OSError."""
    with _connect(endpoint) as connection:
        connection.sendall(protocol.first_bytes)
        said = _read(connection, ANSWER_S)
        if said is None:
            # A server of HTTP waits for a request that it can understand.
            with suppress(BrokenPipeError):
                connection.sendall(_HTTP_REQUEST)
            said = _read(connection, HTTP_S) or None
        return said


def _connect(endpoint: Endpoint) -> socket.socket:
    if not endpoint.socket:
        return socket.create_connection((endpoint.host, endpoint.port), CONNECT_S)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(CONNECT_S)
    connection.connect(endpoint.socket)
    return connection


def _read(connection: socket.socket, timeout_s: float) -> bytes | None:
    """Return what comes in this time, until it is enough to tell by; None: nothing came, and nobody hung up."""
    ends_at, said = time.monotonic() + timeout_s, b""
    while len(said) < MOST_BYTES and (left_s := ends_at - time.monotonic()) > 0:
        connection.settimeout(left_s)
        try:
            more = connection.recv(MOST_BYTES - len(said))
        except TimeoutError:
            return said or None
        if not more:
            return said
        said += more
        # The first bytes may be incomplete, so wait for the rest.
        ends_at = min(ends_at, time.monotonic() + timeout_s / 4)
    return said or None
