"""The band `queue`: where the operations of a server's connections wait outside its threads.

A request that has arrived and is unread waits in front of the server: for its event loop, or for a thread of its pool.
An answer that has arrived and is unread waits for the load client. Data that one end has written and the other
has not received is on the way.
"""

import os
import re
import socket
from contextlib import suppress
from pathlib import Path
from statistics import fmean

import numpy as np

from dbdyno.observe.procfs import NotSeen
from dbdyno.observe.socket_table import LISTENING, Sockets, SocketTable
from dbdyno.observe.waits import Counts

_LEAST_BYTES = 2
"""The fewest bytes that count as on the way: the kernel counts the opening of a connection as one."""
_PROC = Path("/proc")
_UNIX_SOCKET = re.compile(r"\w+: \w+ \w+ 00010000 \w+ \w+ +(?P<inode>\d+) (?P<path>.+)")
"""A socket that takes connections (flag `__SO_ACCEPTCON`), of the table /proc/net/unix (proc_net(5))."""


class SocketQueues:
    """Looks at the connections to one server some times a second."""

    def __init__(self, server: str, host: str, port: int, not_seen: NotSeen, clients_elsewhere: bool = False) -> None:
        """Take the address that clients connect to; says so if its sockets cannot be listed.

        On another host the server's ends of the connections are not seen, nor are those of clients elsewhere.
        """
        self._server, self._port = server, port
        self._local, self._clients_elsewhere = is_local(host), clients_elsewhere
        self._looks: list[Counts] = []
        self._requests_next = False
        self._table: SocketTable | None = None
        try:
            self._table = SocketTable()
            self._table.sockets(local_port=port, states=LISTENING)
        except OSError as error:
            self.close()
            not_seen[f"queue.{server}"] = f"the kernel does not list sockets: {error.strerror or error}"
        if not self._local:
            not_seen[f"queue.{server}.unread_requests"] = "the server is on another host"
        if clients_elsewhere:
            not_seen[f"queue.{server}.unread_answers"] = "the clients are on other hosts"

    def look(self) -> None:
        """Count what is queued now. Nothing is counted if the kernel does not answer.

        The sender is looked at before the receiver, so what arrives in between is not on the way. So requests and
        answers on the way are counted in turn.
        """
        if self._table is None:
            return
        with suppress(OSError):
            self._requests_next = not self._requests_next
            if self._clients_elsewhere and not self._local:
                return
            if self._clients_elsewhere:
                self._looks.append(_of_server(self._table.sockets(local_port=self._port)))
            elif not self._local:
                self._looks.append(_of_client(self._table.sockets(remote_port=self._port)))
            elif self._requests_next:
                client, server = self._client(), self._table.sockets(local_port=self._port)
                on_the_way = _on_the_way((client.local_port, client), (server.remote_port, server))
                self._looks.append(_of_both(client, server) | {"requests_in_transit": on_the_way})
            else:
                server, client = self._table.sockets(local_port=self._port), self._client()
                on_the_way = _on_the_way((server.remote_port, server), (client.local_port, client))
                self._looks.append(_of_both(client, server) | {"answers_in_transit": on_the_way})

    def take(self) -> dict[str, float]:
        """Return the mean of the looks since this was last asked for; nothing if there was none."""
        looks, self._looks = self._looks, []
        names = {name for look in looks for name in look}
        return {f"queue.{self._server}.{name}": fmean(look[name] for look in looks if name in look) for name in names}

    def _client(self) -> Sockets:
        assert self._table is not None, "it looks only while it is connected to the kernel"
        return self._table.sockets(remote_port=self._port)

    def close(self) -> None:
        """Disconnect from the kernel."""
        if self._table:
            self._table.close()
        self._table = None


def _of_client(client: Sockets) -> dict[str, float]:
    round_trips_s = client.min_rtt_s[client.min_rtt_s > 0]
    seen = {"unread_answers": float((client.unread_bytes > 0).sum())}
    # Data are acknowledged when they have arrived, whatever the server makes of them.
    return seen | ({"min_rtt_s": float(np.median(round_trips_s))} if len(round_trips_s) else {})


def _of_server(server: Sockets) -> dict[str, float]:
    return {"unread_requests": float((server.unread_bytes > 0).sum())}


def _of_both(client: Sockets, server: Sockets) -> dict[str, float]:
    """Count what waits unread at both ends, and the connections whose both ends are visible: a relay between them has
    connections of its own."""
    whole = np.intersect1d(client.local_port, server.remote_port).size
    return _of_client(client) | _of_server(server) | {"whole_connections": float(whole)}


def _on_the_way(sender: tuple[np.ndarray, Sockets], receiver: tuple[np.ndarray, Sockets]) -> float:
    """Return on how many connections the sender has written more than the receiver has received.

    Each is given with the client's port of each connection, which tells connections apart.
    """
    _, at_sender, at_receiver = np.intersect1d(sender[0], receiver[0], return_indices=True)
    missing = sender[1].written_bytes[at_sender] - receiver[1].received_bytes[at_receiver]
    return float((missing >= _LEAST_BYTES).sum())


def is_local(host: str) -> bool:
    """Return whether an address is one of this host's."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.bind(address)
    except OSError:
        return False
    return True


def listener(host: str, port: int) -> int | None:
    """Return the process of this host that listens at an address; `None` if none does, or this user may not see it.

    Several processes may share the socket: the lowest number is the one that opened it.
    """
    if not is_local(host):
        return None
    try:
        with SocketTable() as table:
            inodes = {f"socket:[{inode}]" for inode in table.sockets(local_port=port, states=LISTENING).inode}
    except OSError:
        return None
    return _first_with(inodes)


def socket_listener(path: str) -> int | None:
    """Return the process of this host that listens at a Unix socket; `None` if none does, or nobody may see it."""
    try:
        text = (_PROC / "net/unix").read_text(errors="surrogateescape")
    except OSError:
        return None
    listed = (match for line in text.splitlines() if (match := _UNIX_SOCKET.match(line)))
    return _first_with({f"socket:[{match['inode']}]" for match in listed if match["path"] == path})


def _first_with(files: set[str]) -> int | None:
    """The lowest process that has one of these files open."""
    pids = sorted(int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()) if files else []
    return next((pid for pid in pids if _has_open(pid, files)), None)


def _has_open(pid: int, files: set[str]) -> bool:
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                if os.readlink(f"{folder}/{name}") in files:
                    return True
    return False
