"""Measures what the links between hosts carry, before the load: bytes as fast as TCP takes them.

A server host listens at a port for one measurement. Who connects shows a word that only the conductor knows, and
nothing that is received is looked at.
"""

import asyncio
import hmac
import secrets
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from dbdyno.hosts.channel import Channel, Lost, Message, connect
from dbdyno.hosts.crew import Member

_Result = TypeVar("_Result")

PATIENCE_S = 5.0
WORD_BYTES = 32
SEND, RECEIVE = "send", "receive"
_CHUNK = bytes(1 << 18)
_ABORT = struct.pack("ii", 1, 0)
"""Lingers for no time: what a slow link has not carried yet is thrown away (socket(7), SO_LINGER)."""


@dataclass(frozen=True)
class Rates:
    """Bytes per second in both directions, as a client host sends and receives; None if not measured."""

    sends: float | None = None
    receives: float | None = None


@dataclass(frozen=True)
class Links:
    """The capacity of a run's links, as far as it was measured.

    paths: from a client host to a server host, alone. together: of all client hosts at once to a server host.
    """

    paths: dict[tuple[str, str], Rates] = field(default_factory=dict)
    together: dict[str, Rates] = field(default_factory=dict)

    def of_client(self, name: str) -> Rates:
        """Return what a client host's link carries: the most that one of its paths did."""
        paths = [rates for (client, _), rates in self.paths.items() if client == name]
        return Rates(_most(path.sends for path in paths), _most(path.receives for path in paths))

    def of_server(self, name: str) -> Rates:
        """Return what a server host's link carries, as it sends and receives itself."""
        paths = [rates for (_, server), rates in self.paths.items() if server == name]
        if name in self.together:
            paths.append(self.together[name])
        return Rates(_most(path.receives for path in paths), _most(path.sends for path in paths))


def _most(rates: Iterable[float | None]) -> float | None:
    return max((rate for rate in rates if rate is not None), default=None)


def measure_links(
    links: Links, clients: Sequence[Member], servers: Sequence[Member], context: ssl.SSLContext, seconds: float
) -> None:
    """Measure what was not yet: every path alone, then all paths to a server host.

    If a host is gone, the rest is left for the next time: the trial says who is lost.
    seconds: how long each is filled in each direction.
    """
    with suppress(Lost):
        asyncio.run(_Measuring(links, context, seconds).all(clients, servers))


class _Measuring:
    def __init__(self, links: Links, context: ssl.SSLContext, seconds: float) -> None:
        self._links, self._context, self._seconds = links, context, seconds

    async def all(self, clients: Sequence[Member], servers: Sequence[Member]) -> None:
        paths, together = self._links.paths, self._links.together
        for server in servers:
            for client in clients:
                if (client.name, server.name) not in paths:
                    paths[client.name, server.name] = await self._both_ways([client], server)
            if len(clients) > 1 and server.name not in together:
                together[server.name] = await self._both_ways(clients, server)

    async def _both_ways(self, clients: Sequence[Member], server: Member) -> Rates:
        return Rates(await self._fill(clients, server, SEND), await self._fill(clients, server, RECEIVE))

    async def _fill(self, clients: Sequence[Member], server: Member, direction: str) -> float | None:
        """Return how many bytes per second come from, or to, some client hosts at once; None if that did not work."""
        channels: list[Channel] = []
        word = secrets.token_hex(WORD_BYTES // 2)
        ask: Message = {"word": word, "seconds": self._seconds, "direction": direction}
        try:
            for member in (server, *clients):
                channels.append(await connect(member.host, member.port, self._context, member.name))
            there, *here = channels
            await there.send({"say": "serve link", "connections": len(clients), **ask})
            port = (await there.receive())["port"]
            for channel in here:
                await channel.send({"say": "fill link", "host": server.host, "port": port, **ask})
            counting = here if direction == RECEIVE else [there]
            counted = [(await channel.receive())["bytes_per_s"] for channel in counting]
        finally:
            await asyncio.gather(*(channel.close() for channel in channels))
        return float(sum(counted)) if all(rate is not None for rate in counted) else None


async def serve_link(channel: Channel, host: str, message: Message) -> None:
    """Listen for one measurement, tell the port, and what was received in all, if that is this side's to count."""
    receives = message["direction"] == SEND
    with ThreadPoolExecutor(message["connections"]) as threads:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, 0), family=family, backlog=message["connections"]) as listening:
            listening.settimeout(PATIENCE_S)
            await channel.send({"port": listening.getsockname()[1]})
            accepting = [_in(threads, _accept, listening, message["word"]) for _ in range(message["connections"])]
            connections = [connection for connection in await asyncio.gather(*accepting) if connection]
        work = [
            _in(threads, _receive_from if receives else _send, connection, message["seconds"])
            for connection in connections
        ]
        counted = await asyncio.gather(*work)
    are_whole = receives and len(connections) == message["connections"]
    await channel.send({"bytes_per_s": sum(counted) if are_whole else None})


async def fill_link(channel: Channel, message: Message) -> None:
    """Connect to where another host listens, send or receive, and tell what was received."""
    with ThreadPoolExecutor(1) as threads:
        counted = await _in(threads, _fill, message)
    await channel.send({"bytes_per_s": counted})


def _in(threads: ThreadPoolExecutor, work: Callable[..., _Result], *arguments: object) -> asyncio.Future[_Result]:
    return asyncio.get_running_loop().run_in_executor(threads, work, *arguments)


def _fill(message: Message) -> float | None:
    """Do a client host's part of a measurement; None if it received nothing."""
    with suppress(OSError):
        connection = socket.create_connection((message["host"], message["port"]), PATIENCE_S)
        connection.sendall(message["word"].encode())
        if message["direction"] == RECEIVE:
            return _receive(connection, message["seconds"])
        # All hosts begin when all are there.
        if connection.recv(1):
            _send(connection, message["seconds"])
    return None


def _accept(listening: socket.socket, word: str) -> socket.socket | None:
    """Return the next connection that shows the word; None if none comes."""
    with suppress(OSError):
        connection, _ = listening.accept()
        connection.settimeout(PATIENCE_S)
        if hmac.compare_digest(connection.recv(WORD_BYTES, socket.MSG_WAITALL), word.encode()):
            return connection
        connection.close()
    return None


def _send(connection: socket.socket, seconds: float) -> float:
    """Send for so long, as fast as it goes."""
    until = time.monotonic() + seconds
    with connection, suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
        connection.settimeout(seconds)
        while time.monotonic() < until:
            connection.send(_CHUNK)
    return 0.0


def _receive_from(connection: socket.socket, seconds: float) -> float:
    """Have the other side begin, and return what `_receive` does."""
    with suppress(OSError):
        connection.sendall(b"!")
    return _receive(connection, seconds)


def _receive(connection: socket.socket, seconds: float) -> float:
    """Receive until the other side ends, and return how many bytes per second came."""
    buffer = bytearray(len(_CHUNK))
    received, began, ended = 0, 0.0, 0.0
    with connection, suppress(OSError):
        connection.settimeout(seconds + PATIENCE_S)
        while size := connection.recv_into(buffer):
            ended = time.monotonic()
            # The first bytes came before they were waited for.
            received, began = (received + size, began) if began else (0, ended)
    return received / (ended - began) if ended > began else 0.0
