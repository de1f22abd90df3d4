"""Answers of a server of the MySQL protocol, read for next to nothing: what is asked of it ten times a second.

A list of connections costs the server a quarter of what it costs it to count them, but a driver makes objects of nine
columns of every row where two are wanted, and its cursor costs as much again (benches/README.md). So the question goes
out by the driver, whose connection this is, and the answer is read here: rows of the text protocol, in packets, their
columns each behind its length (MySQL Internals Manual, "Text Resultset" and "Protocol::LengthEncodedString").
"""

from collections import Counter
from collections.abc import Iterator
from socket import socket

import pymysql
from pymysql.constants import COMMAND
from pymysql.err import OperationalError, raise_mysql_exception

LIST = "SHOW PROCESSLIST"
_ID, _COMMAND, _STATE = 0, 4, 6
_HEADER_BYTES, _CHUNK_BYTES = 4, 1 << 16
_ERROR, _END, _END_BYTES = 0xFF, 0xFE, 9
_NULL = 0xFB
"""The largest length of one byte is less; above it stands how many bytes it has."""


def list_connections(connection: pymysql.Connection, timeout_s: float) -> Counter[tuple[str, str]]:
    """Return how many of the other connections are at each command in each state; as `answer` otherwise."""
    own = str(connection.thread_id()).encode()
    found: Counter[tuple[bytes, bytes]] = Counter()
    for row in answer(connection, LIST, timeout_s):
        values = columns(row, _STATE + 1)
        if values[_ID] != own:
            found[values[_COMMAND], values[_STATE]] += 1
    return Counter({(command.decode(), state.decode()): count for (command, state), count in found.items()})


def answer(connection: pymysql.Connection, question: str, timeout_s: float) -> Iterator[bytes]:
    """Yield the rows that answer a question; all of them are to be taken, so that the next can be asked.

    Args:
        connection: with nothing else under way; afterwards it is to be asked again, by whichever means.
        question: which has rows for an answer, of at most 250 columns.
        timeout_s: for which each part of the answer is waited for.

    Raises:
        pymysql.MySQLError: the server refuses, or has gone.
        OSError: it does not answer.
    """
    connection._execute_command(COMMAND.COM_QUERY, question)
    connection._sock.settimeout(timeout_s)
    packets = _packets(connection._sock)
    for _ in range(next(packets)[0] + 1):
        next(packets)
    for packet in packets:
        if packet[0] == _END and len(packet) < _END_BYTES:
            return
        yield packet


def columns(row: bytes, count: int) -> list[bytes]:
    """Return the first columns of a row; what is NULL is empty."""
    values, at = [], 0
    for _ in range(count):
        length = row[at]
        at += 1
        if length == _NULL:
            length = 0
        elif length > _NULL:
            size = length - _NULL + 1
            length, at = int.from_bytes(row[at : at + size], "little"), at + size
        values.append(row[at : at + length])
        at += length
    return values


def _packets(sock: socket) -> Iterator[bytes]:
    """Yield what is in each packet, as long as it is read; raises what the server says of an error."""
    held, at = b"", 0
    while True:
        end = at + _HEADER_BYTES + int.from_bytes(held[at : at + 3], "little")
        if len(held) - at < _HEADER_BYTES or len(held) < end:
            more = sock.recv(_CHUNK_BYTES)
            if not more:
                raise OperationalError("the server closed the connection")
            held, at = held[at:] + more, 0
            continue
        packet, at = held[at + _HEADER_BYTES : end], end
        if packet[0] == _ERROR:
            raise_mysql_exception(packet)
        yield packet
