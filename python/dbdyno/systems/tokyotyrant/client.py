"""One request of Tokyo Tyrant's binary protocol, `stat`: what the server says of itself."""

from __future__ import annotations

import socket
import struct
from types import TracebackType
from typing import Self

from dbdyno.systems.running.endpoint import Endpoint

_STAT = b"\xc8\x88"
MOST_BYTES = 1 << 16


class Client:
    """A connection to a ttserver. Every method raises OSError if the server does not answer."""

    def __init__(self, endpoint: Endpoint, timeout_s: float) -> None:
        """Connect, by TCP or the Unix socket."""
        self._socket = socket.socket(socket.AF_UNIX if endpoint.socket else socket.AF_INET)
        self._socket.settimeout(timeout_s)
        self._socket.connect(endpoint.socket or (endpoint.host, endpoint.port))

    def stat(self) -> dict[str, str]:
        """Return what the server shows of itself: names and values as it writes them."""
        self._socket.sendall(_STAT)
        code, size = struct.unpack(">BI", self._read(5))
        if code or size > MOST_BYTES:
            raise OSError(f"answered stat by code {code} and {size} bytes")
        lines = self._read(size).decode(errors="replace").splitlines()
        return {key: value for key, _, value in (line.partition("\t") for line in lines)}

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            if not (more := self._socket.recv(size - len(data))):
                raise ConnectionError("the server closed the connection")
            data += more
        return data

    def close(self) -> None:
        """Disconnect; may be called twice."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
