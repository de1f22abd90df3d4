"""The TCP sockets of this host with what is queued in them, as the kernel lists them (sock_diag(7)).

Reading `/proc/net/tcp` takes ten times as long: it formats every socket of the host.
"""

import socket
import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY = 4, 20
_REQUEST, _DUMP = 0x1, 0x300
_DONE, _ERROR = 3, 2
_INFO = 2
ESTABLISHED, LISTENING = 1 << 1, 1 << 10
_HEADER = struct.Struct("=IHHII")
_ANSWER_BYTES = 1 << 16
_ANSWER_TIMEOUT_S = 1.0
_QUEUES_AT, _INODE_AT = 16 + 56, 16 + 68
"""Offsets of `idiag_rqueue` and `idiag_inode`, behind the message's header and the socket's name."""
_ATTRIBUTES_AT = 16 + 72
_BYTES_ACKED, _BYTES_RECEIVED, _NOT_SENT, _MIN_RTT = 120, 128, 144, 148
"""Offsets in `struct tcp_info` (include/uapi/linux/tcp.h); the kernel only ever appends to it."""
_INFO_BYTES = 152


@dataclass(frozen=True, slots=True)
class Sockets:
    """Some sockets at one moment, one value a socket.

    Attributes:
        local_port, remote_port: shape (sockets,).
        unread_bytes: arrived, and not yet read by the program; shape (sockets,).
        written_bytes: written by the program so far, whether sent or not; shape (sockets,).
        received_bytes: arrived so far, whether read or not; shape (sockets,).
        min_rtt_s: the shortest round trip that TCP measured; shape (sockets,).
        inode: of the socket; shape (sockets,).
    """

    local_port: np.ndarray
    remote_port: np.ndarray
    unread_bytes: np.ndarray
    written_bytes: np.ndarray
    received_bytes: np.ndarray
    min_rtt_s: np.ndarray
    inode: np.ndarray

    def __len__(self) -> int:
        return len(self.local_port)


class SocketTable:
    """A connection to the kernel that lists sockets; raises OSError if it does not answer."""

    def __init__(self) -> None:
        """Connect."""
        self._netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG)
        self._netlink.settimeout(_ANSWER_TIMEOUT_S)
        self._netlink.bind((0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect."""
        self._netlink.close()

    def sockets(self, local_port: int = 0, remote_port: int = 0, states: int = ESTABLISHED) -> Sockets:
        """Return the sockets of IPv4 and IPv6 in any of `states`, with these ports; 0 is any port."""
        rows = []
        for family in (socket.AF_INET, socket.AF_INET6):
            rows += self._dump(family, local_port, remote_port, states)
        values = np.array(rows, dtype=float).reshape(len(rows), 7).T
        ports = values[:2].astype(int)
        return Sockets(ports[0], ports[1], values[2], values[3], values[4], values[5] * 1e-6, values[6].astype(int))

    def _dump(self, family: int, local_port: int, remote_port: int, states: int) -> list[tuple[int, ...]]:
        wanted = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 1 << (_INFO - 1), 0, states)
        wanted += (
            struct.pack("!HH", local_port, remote_port) + bytes(32) + struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)
        )
        length = _HEADER.size + len(wanted)
        self._netlink.send(_HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _REQUEST | _DUMP, 1, 0) + wanted)
        rows: list[tuple[int, ...]] = []
        while True:
            answer, at = self._netlink.recv(_ANSWER_BYTES), 0
            while at < len(answer):
                length, kind = struct.unpack_from("=IH", answer, at)
                if kind == _DONE:
                    return rows
                if kind == _ERROR:
                    number = -struct.unpack_from("=i", answer, at + _HEADER.size)[0]
                    raise OSError(number, "the kernel does not list sockets")
                rows.append(_row(answer, at, length))
                at += (length + 3) & ~3


def _row(answer: bytes, at: int, length: int) -> tuple[int, ...]:
    """Return the ports, unread, written and received bytes, the shortest round trip in µs and the inode of a socket.

    The bytes written are those acknowledged and those that the socket still keeps.
    """
    local_port, remote_port = struct.unpack_from("!HH", answer, at + 20)
    unread, unacknowledged = struct.unpack_from("=II", answer, at + _QUEUES_AT)
    inode = struct.unpack_from("=I", answer, at + _INODE_AT)[0]
    acknowledged = received = min_rtt_us = 0
    attribute = at + _ATTRIBUTES_AT
    while attribute + 4 <= at + length:
        size, kind = struct.unpack_from("=HH", answer, attribute)
        if kind == _INFO and size - 4 >= _INFO_BYTES:
            acknowledged, received = struct.unpack_from("=QQ", answer, attribute + 4 + _BYTES_ACKED)
            min_rtt_us = struct.unpack_from("=I", answer, attribute + 4 + _MIN_RTT)[0]
        attribute += max(4, (size + 3) & ~3)
    return local_port, remote_port, unread, acknowledged + unacknowledged, received, min_rtt_us, inode
