"""Servers that misbehave: each takes connections on loopback and answers as no server of its protocol would."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Behaviour = Callable[[socket.socket], None]
_CHUNK = 1 << 16


@contextmanager
def server(behaviour: Behaviour) -> Iterator[int]:
    """Serve every connection on its own thread by `behaviour`; gives the port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    ended = threading.Event()
    open_now: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            behaviour(connection)

    def accept() -> None:
        with suppress(OSError):
            while not ended.is_set():
                connection, _ = listener.accept()
                open_now.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        ended.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in open_now:
            # Whoever still sends or waits there is woken by this.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def silent(connection: socket.socket) -> None:
    """Take what is sent, and never answer."""
    while connection.recv(_CHUNK):
        pass


def closes(connection: socket.socket) -> None:
    """Hang up after the first bytes of the client, or a moment."""
    connection.settimeout(0.2)
    with suppress(TimeoutError):
        connection.recv(_CHUNK)


def http(connection: socket.socket) -> None:
    """Answer as a server of HTTP: once an empty line has come, or at once where it cannot be a request."""
    came = b""
    while b"\n" not in came:
        came += (more := connection.recv(_CHUNK))
        if not more:
            return
    body = b"<html><body>Bad Request</body></html>"
    connection.sendall(
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body
    )


def ssh(connection: socket.socket) -> None:
    """Greet as a server of SSH."""
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    silent(connection)


def says(first: bytes, then: bytes = b"", at_once: bool = True) -> Behaviour:
    """Say `first`, then `then` without end; at_once: not only once the client has said something."""

    def behave(connection: socket.socket) -> None:
        if not at_once:
            connection.recv(_CHUNK)
        connection.sendall(first)
        while then:
            connection.sendall(then)
        silent(connection)

    return behave


def trickles(text: bytes, pause_s: float = 0.05) -> Behaviour:
    """Say `text` over and over, a byte at a time."""

    def behave(connection: socket.socket) -> None:
        closed = threading.Event()

        def take() -> None:
            with suppress(OSError):
                silent(connection)
            closed.set()

        threading.Thread(target=take, daemon=True).start()
        while True:
            for byte in text:
                connection.sendall(bytes([byte]))
                if closed.wait(pause_s):
                    return

    return behave


def then(first: Behaviour, second: Behaviour) -> Behaviour:
    """Behave in one way, then in another, on one connection."""

    def behave(connection: socket.socket) -> None:
        first(connection)
        second(connection)

    return behave


def answers(*exchange: bytes) -> Behaviour:
    """Answer what comes from the client by each of these in turn, and return."""

    def behave(connection: socket.socket) -> None:
        for answer in exchange:
            if not connection.recv(_CHUNK):
                raise ConnectionError
            connection.sendall(answer)

    return behave


GREETING = (
    b"\x0a5.5.5-10.11.6-MariaDB\0\x01\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\xff\x81\x15" + bytes(6) + b"\x1d\0\0\0"
    b"ijklmnopqrst\0mysql_native_password\0"
)


def mysql_packet(payload: bytes, number: int) -> bytes:
    """Return a packet of the MySQL protocol."""
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


def asks_for_the_password(connection: socket.socket) -> None:
    """Greet as MariaDB does, and ask for the password in clear text."""
    connection.sendall(mysql_packet(GREETING, 0))
    answers(mysql_packet(b"\xfemysql_clear_password\0", 2))(connection)
    silent(connection)


_COLUMN = b"\x03def\0\0\0\x01a\x01a\x0c\x21\0\xff\0\0\0\xfd\0\0\0\0\0"
_ROW = b"\xfd\0\0\x01" + bytes(1 << 16)


_PLAIN_GREETING = GREETING.replace(b"\xff\x81\x15", b"\xff\x80\x15").replace(b"\x1d\0\0\0", bytes(4))
"""The same without newer forms of columns and of their end, which C libraries ask for."""


def mysql_rows_without_end(connection: socket.socket) -> None:
    """Let a client in, and answer its first statement after SET NAMES or BEGIN by rows of one text."""
    connection.sendall(mysql_packet(_PLAIN_GREETING, 0))
    answers(*(mysql_packet(b"\0\0\0\x02\0\0\0", number) for number in (2, 1)))(connection)
    head = (b"\x01", _COLUMN, b"\xfe\0\0\x02\0")
    first = b"".join(mysql_packet(payload, number) for number, payload in enumerate(head, 1))
    rows = b"".join(mysql_packet(_ROW, number % 256) for number in range(4, 260))
    says(first, rows, at_once=False)(connection)


def _nested_document(depth: int) -> bytes:
    document = b"\x05\0\0\0\0"
    for _ in range(depth):
        element = b"\x03a\0" + document
        document = struct.pack("<i", 5 + len(element)) + element + b"\0"
    return document


def _op_msg(document: bytes) -> bytes:
    return struct.pack("<iiiiiB", 21 + len(document), 7, 1, 2013, 0, 0) + document


def cql_frame(stream: int, opcode: int, body: bytes) -> bytes:
    """Return a frame of a CQL server, version 4."""
    return struct.pack(">BBhBi", 0x84, 0, stream, opcode, len(body)) + body


_SUPPORTED = b"\0\x02\0\x0bCQL_VERSION\0\x01\0\x053.4.7\0\x0bCOMPRESSION\0\0"
_CQL_LOGIN = {0x05: (0x06, _SUPPORTED), 0x01: (0x02, b""), 0x0B: (0x02, b"")}
_CQL_ERROR = (0x00, b"\0\0\0\0\0\x02no")
_QUERY = 0x07


def cql(answers: dict[int, tuple[int, bytes]], endless: bytes = b"") -> Behaviour:
    """Let a client in, and give it other answers than a server does: opcode and body, by the request's opcode.

    endless: is said over and over as the answer to a query.
    """
    known = _CQL_LOGIN | answers

    def behave(connection: socket.socket) -> None:
        with connection.makefile("rb") as requests:
            while head := requests.read(9):
                _, _, stream, request, length = struct.unpack(">BBhBi", head)
                requests.read(length)
                while endless and request == _QUERY:
                    connection.sendall(endless)
                connection.sendall(cql_frame(stream, *known.get(request, _CQL_ERROR)))

    return behave


def cql_rows(columns: int, rest: bytes) -> dict[int, tuple[int, bytes]]:
    """Return the answer to a query that has rows of the table k.t, and begins as it should."""
    return {_QUERY: (0x08, struct.pack(">iii", 2, 1, columns) + b"\0\x01k\0\x01t" + rest)}


NESTED_TYPES = cql(cql_rows(1, b"\0\x01a" + b"\0\x20" * 200_000))
"""A column of lists of lists …: cassandra-driver reads them by calling itself, and takes all of its stack."""
_NESTED_NAME = b"ListType(" * 6500 + b"Int32Type" + b")" * 6500
NESTED_TYPE_NAMES = cql(cql_rows(1, b"\0\x01a\0\0" + struct.pack(">H", len(_NESTED_NAME)) + _NESTED_NAME + bytes(4)))
"""The same as the name of a type."""
_EVENT = cql_frame(-1, 0x0C, b"\0\x0dSTATUS_CHANGE\0\x02UP\x04\x7f\0\0\x01\0\0\x23\x52")
_GARBAGE = bytes((number * 197 + 31) % 256 for number in range(4096))
_ENDLESS = b"A" * _CHUNK
ANYWHERE: dict[str, Behaviour] = {
    "silent": silent,
    "closes": closes,
    "http": http,
    "ssh": ssh,
    "garbage": says(_GARBAGE, _GARBAGE),
    "endless line": says(_ENDLESS, _ENDLESS),
}
"""Faults of a server of any protocol."""
OF_PROTOCOL: dict[str, dict[str, Behaviour]] = {
    "mysql": {
        "half a greeting": lambda connection: connection.sendall(mysql_packet(GREETING, 0)[:30]),
        "greeting trickles": trickles(mysql_packet(GREETING, 0)[:5] + b"x" * 1000),
        "endless packets": says(b"\xff\xff\xff\0", b"\xff\xff\xff\0" + bytes(_CHUNK)),
        "answer without end": then(
            says_and_returns := (lambda connection: connection.sendall(mysql_packet(GREETING, 0))),
            then(
                answers(mysql_packet(b"\0\0\0\x02\0\0\0", 2)),
                says(b"\xff\xff\xff\x01", b"\xff" * _CHUNK, at_once=False),
            ),
        ),
        "columns without end": then(
            says_and_returns,
            then(
                answers(mysql_packet(b"\0\0\0\x02\0\0\0", 2)),
                says(mysql_packet(b"\xfe" + b"\xff" * 7 + b"\x7f", 1), b"\x01\0\0\x02\0", at_once=False),
            ),
        ),
    },
    "postgresql": {
        "half a message": then(answers(b"R\0\0\0\x08\0"), lambda connection: None),
        "trickles": trickles(b"R\x7f\xff\xff\xff"),
        "length of 2 GiB": says(b"R\x7f\xff\xff\xff", bytes(_CHUNK), at_once=False),
        "error of 2 GiB": says(b"E\x7f\xff\xff\xffS", b"A" * _CHUNK, at_once=False),
        "answer without end": then(
            answers(b"R\0\0\0\x08\0\0\0\0" + b"Z\0\0\0\x05I"),
            says(b"D\x7f\xff\xff\xff\0\x01\x7f\xff\xff\xf0", b"A" * _CHUNK, at_once=False),
        ),
        "notices without end": then(
            answers(b"R\0\0\0\x08\0\0\0\0" + b"Z\0\0\0\x05I"),
            says(b"", b"N\0\0\0\x0eMhello\0\0\0\0" * 1000, at_once=False),
        ),
    },
    "redis": {
        "half an answer": then(answers(b"$100\r\nabc"), lambda connection: None),
        "trickles": trickles(b"$2147483647\r\n"),
        "length of 2 GiB": says(b"$2147483647\r\n", b"A" * _CHUNK, at_once=False),
        "nested arrays": says(b"*1\r\n" * 2_000_000, at_once=False),
        "array of 2 billion": says(b"*2147483647\r\n", b":1\r\n" * 10_000, at_once=False),
    },
    "memcached": {
        "half an answer": then(answers(b"STAT pid 1\r\nSTAT upt"), lambda connection: None),
        "trickles": trickles(b"STAT a 1\r\n"),
        "figures without end": says(b"", b"".join(b"STAT a%d 1\r\n" % n for n in range(9000)), at_once=False),
        "a figure without end": says(b"STAT a ", b"1" * _CHUNK, at_once=False),
    },
    "mongodb": {
        "half an answer": then(answers(_op_msg(_nested_document(3))[:20]), lambda connection: None),
        "trickles": trickles(_op_msg(_nested_document(1000))[:3000]),
        "length of 2 GiB": says(b"\xff\xff\xff\x7f" + bytes(8) + b"\xdd\x07\0\0", bytes(_CHUNK), at_once=False),
        "nested documents": says(_op_msg(_nested_document(9000)), at_once=False),
    },
    "cassandra": {
        "half an answer": then(answers(b"\x84\0\0\0\x06\0\0\0\x40"), lambda connection: None),
        "trickles": trickles(b"\x84\0\0\0\x06\x0f\xff\xff\xff"),
        "length of 256 MiB": says(b"\x84\0\0\0\x06\x0f\xff\xff\xff", bytes(_CHUNK), at_once=False),
        "length of 2 GiB": says(b"\x84\0\0\0\x06\x7f\xff\xff\xff", bytes(_CHUNK), at_once=False),
        "challenges without end": cql({0x01: (0x03, b"\0\x01x"), 0x0F: (0x0E, b"\0\0\0\x01x")}),
        "2 billion rows of nothing": cql(cql_rows(0, b"\x7f\xff\xff\xff")),
        "events without end": cql({}, _EVENT * 1000),
        "nested types": NESTED_TYPES,
        "nested names of types": NESTED_TYPE_NAMES,
    },
}
"""Faults of a server in one protocol, by the scheme of its URL."""
