"""Answers of a server of the MySQL protocol, read for next to nothing: what is asked of it ten times a second.

A list of connections costs the server a quarter of what counting them costs. But a driver makes objects of all nine
columns of a row, of which two are needed, and its cursor costs as much again (benches/README.md). So the question goes
out on the driver's connection, and the answer is read here: rows of the text protocol, in packets. Each column stands
behind its length (MySQL Internals Manual, "COM_QUERY", "Text Resultset" and "Protocol::LengthEncodedString").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from socket import socket
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule

if TYPE_CHECKING:
    import pymysql
else:
    pymysql = LaterModule("pymysql")


LIST = "SHOW PROCESSLIST"
_COMMAND, _STATE = 4, 6
_HEADER_BYTES, _CHUNK_BYTES = 4, 1 << 16
_ERROR, _END, _END_BYTES = 0xFF, 0xFE, 9
_NULL = 0xFB
"""The largest length of one byte is less; above it stands how many bytes it has."""
# A command, the time and the state behind it, and whatever then looks like more of the state. With a point it would be
# MariaDB's column of progress, behind a statement such as COMMIT.
_KIND = re.compile(rb"[\x03-\x1f][A-Z][A-Za-z_ ]+[\x01-\x1f]-?[0-9]+[^.\xfc-\xff][ -~]*")


class Connections:
    """Counts what the other connections of a server do, asked on one of them."""

    def __init__(self, connection: pymysql.Connection) -> None:
        """Take one with nothing else under way whenever they are counted."""
        self._connection = connection
        self._id = str(connection.thread_id()).encode()
        self._own: tuple[str, str] | None = None

    def count(self, timeout_s: float) -> Mapping[tuple[str, str], int]:
        """Return how many are at each command in each state; as `answer` otherwise."""
        sock = _ask(self._connection, LIST, timeout_s)
        held = sock.recv(_CHUNK_BYTES)
        while _goes_on(held) and (more := sock.recv(_CHUNK_BYTES)):
            held += more
        counts = self._counted_at_once(held)
        return self._counted_by_row(sock, held) if counts is None else counts

    def _counted_by_row(self, sock: socket, held: bytes) -> Mapping[tuple[str, str], int]:
        counts: Counter[tuple[str, str]] = Counter()
        for row in _rows(sock, held):
            number, *_, command, _, state = columns(row, _STATE + 1)
            kind = command.decode(), state.decode()
            if number == self._id:
                # A connection that lists all is always in the same state then.
                self._own = kind
            else:
                counts[kind] += 1
        return counts

    def _counted_at_once(self, held: bytes) -> Mapping[tuple[str, str], int] | None:
        """Count rows without looking at each, in a third of the time; None if that is not certain to be right.

        Packets are numbered, and the last one's number tells how many rows there are; lengths are held against values.
        """
        kinds = _KIND.findall(held)
        # Before the rows there are a packet with the number of columns, one for each, and an end.
        before = held[_HEADER_BYTES] + 2 if len(held) >= _END_BYTES else 0
        if not before or (before + len(kinds) + 1) % 256 != held[_HEADER_BYTES - 1 - _END_BYTES]:
            return None
        counts: dict[tuple[str, str], int] = {}
        for kind in set(kinds):
            if (named := _command_and_state(kind)) is None:
                return None
            counts[named] = counts.get(named, 0) + kinds.count(kind)
        if self._own not in counts:
            return None
        counts[self._own] -= 1
        return {kind: count for kind, count in counts.items() if count}


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
    yield from _rows(_ask(connection, question, timeout_s))


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


def _ask(connection: pymysql.Connection, question: str, timeout_s: float) -> socket:
    sock: socket | None = connection._sock
    if sock is None:
        raise pymysql.err.OperationalError("the connection is closed")
    asked = bytes([pymysql.constants.COMMAND.COM_QUERY]) + question.encode()
    sock.settimeout(timeout_s)
    sock.sendall(len(asked).to_bytes(3, "little") + b"\0" + asked)
    return sock


def _goes_on(held: bytes) -> bool:
    """Return whether this is certainly not all of an answer, nor an error, nor the end of a connection."""
    return bool(held) and held[-5:-4] != bytes([_END]) and held[_HEADER_BYTES : _HEADER_BYTES + 1] != bytes([_ERROR])


@lru_cache(maxsize=1024)
def _command_and_state(kind: bytes) -> tuple[str, str] | None:
    """Return what is in a match of `_KIND`; None if it is something else, or not all of it."""
    try:
        command, time_s, state = columns(kind, 3)
        cut = kind[len(command) + len(time_s) + 2] not in (len(state), _NULL)
    except IndexError:
        return None
    return None if cut or not time_s.removeprefix(b"-").isdigit() else (command.decode(), state.decode())


def _rows(sock: socket, held: bytes = b"") -> Iterator[bytes]:
    packets = _packets(sock, held)
    for _ in range(next(packets)[0] + 1):
        next(packets)
    for packet in packets:
        if packet[0] == _END and len(packet) < _END_BYTES:
            return
        yield packet


def _packets(sock: socket, held: bytes) -> Iterator[bytes]:
    """Yield what is in each packet, as long as it is read; raises what the server says of an error.

    held: what was read before.
    """
    at = 0
    while True:
        end = at + _HEADER_BYTES + int.from_bytes(held[at : at + 3], "little")
        if len(held) - at < _HEADER_BYTES or len(held) < end:
            more = sock.recv(_CHUNK_BYTES)
            if not more:
                raise pymysql.err.OperationalError("the server closed the connection")
            held, at = held[at:] + more, 0
            continue
        packet, at = held[at + _HEADER_BYTES : end], end
        if packet[0] == _ERROR:
            pymysql.err.raise_mysql_exception(packet)
        yield packet
