"""One load on all processors, in parts that stay apart: to each processor a load client with an equal share of the
clients, and the server's threads that answer them.

Unpinned, blocks differ three times as much (benches/README.md): the kernel may move threads of client and server from
one processor to another, so that now these meet and now those. Here they stay.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psutil

from benches import load
from benches.measured import Placement
from benches.servers import Started
from dbdyno.errors import RunFailed
from dbdyno.systems.mysql import client as mysql_client
from dbdyno.systems.postgresql import probe as postgresql_probe
from dbdyno.systems.running.endpoint import Endpoint

_PAUSE_S = 0.05
# Which thread or process answers which port.
_MARIADB = "SELECT TID, SUBSTRING_INDEX(HOST, ':', -1) FROM information_schema.PROCESSLIST WHERE HOST LIKE '%:%'"
_POSTGRESQL = "SELECT pid, client_port FROM pg_stat_activity WHERE client_port > 0"
STORES = ("mariadb", "postgresql")
"""The stores that say that."""


def execute(
    wanted: dict[str, Any], placements: Sequence[Placement], watch: Callable[[Sequence[int]], None]
) -> list[list[dict[str, Any]]]:
    """Have a plan executed in as many parts as there are placements, together, and return the records of each.

    wanted: of as many clients as there are parts at least; all parts begin at its `start_at_unix_s`. watch: called with
    the pids of all parts. Raises as `load.execute`.
    """
    clients = wanted["clients"]["count"]
    firsts = [clients * part // len(placements) for part in range(len(placements) + 1)]
    records: list[list[dict[str, Any]]] = []

    def begin(part: int, pids: Sequence[int]) -> None:
        if part == len(placements):
            return watch(pids)
        share = {"first": firsts[part], "count": firsts[part + 1] - firsts[part], "of": clients}
        _, own = load.execute(wanted | {"clients": share}, placements[part], lambda pid: begin(part + 1, [*pids, pid]))
        records.append(own)

    begin(0, [])
    return records


@contextmanager
def kept_apart(started: Started, cpus: Mapping[int, int], clients: int, until_unix_s: float) -> Iterator[None]:
    """Keep every thread of a server on the processor of the load client it answers, and let all go afterwards.

    Args:
        started: reached by TCP, as the port tells whom a thread answers.
        cpus: the processor of each load client, by its pid.
        clients: how many connections they make.
        until_unix_s: by when they must have.

    Raises:
        RunFailed: they have not.
    """
    anywhere = os.sched_getaffinity(0)
    answering: dict[int, int] = {}
    while len(answering) < clients:
        if time.time() > until_unix_s:
            raise RunFailed(f"{len(answering)} of {clients} clients were connected when the load was to begin")
        time.sleep(_PAUSE_S)
        answering = _answering(started, cpus)
    for thread, cpu in answering.items():
        os.sched_setaffinity(thread, {cpu})
    try:
        yield
    finally:
        # The server keeps threads for whoever connects next, which may be the observers.
        for thread in answering:
            with suppress(OSError):
                os.sched_setaffinity(thread, anywhere)


def _answering(started: Started, cpus: Mapping[int, int]) -> dict[int, int]:
    """Return the processor for each of the server's threads that answers a load client so far."""
    endpoint = (started.watched or started.system).endpoint
    ports = {
        connection.laddr.port: cpu
        for pid, cpu in cpus.items()
        for connection in psutil.Process(pid).net_connections("tcp")
        if connection.raddr and connection.raddr.port == endpoint.port
    }
    return {thread: ports[port] for thread, port in _listed(started.store["kind"], endpoint) if port in ports}


def _listed(kind: str, endpoint: Endpoint) -> list[tuple[int, int]]:
    """Return the server's threads or processes that answer somebody, and whose port each of them answers."""
    if kind == "postgres":
        with postgresql_probe.connect(endpoint) as asked:
            return [(row["pid"], row["client_port"]) for row in asked.execute(_POSTGRESQL)]
    with mysql_client.connect(endpoint) as connection, connection.cursor() as cursor:
        cursor.execute(_MARIADB)
        return [(thread, int(port)) for thread, port in cursor.fetchall()]
