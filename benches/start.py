"""Starting a server: its own time to ready, and dbdyno's for the same start (`python -m benches.start [SYSTEM …]`).

Both are of one start, from exec on, so that other work on the machine is in both alike: the server's own until its log
says that it is ready, or, where its log says nothing of that, until it listens on a port (looked at every
millisecond); dbdyno's until it goes on. Making the data directory is in neither.
"""

import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from benches.__main__ import setting, warn_of_company
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.systems import build, missing
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard
from dbdyno.systems.running.process import ServerProcess

LIMIT = 1.20
LOOK_EVERY_S = 0.001
SYSTEMS = (
    *("mariadb", "mariadb@11.4", "mysql@5.5", "mysql@5.6", "mysql@5.7", "mysql@8.0", "handlersocket"),
    *("postgresql", "postgresql@18", "redis", "valkey@9.1", "memcached", "ferretdb", "cassandra", "clickhouse"),
    *("galera", "tidb"),
)
READY = re.compile(
    rb"ready for connections|ready to accept connections|Starting listening for CQL clients|"
    rb"server is running MySQL protocol",
    re.IGNORECASE,
)
"""The lines that servers log when they are ready."""
SILENT = ("memcached", "ferretdb")
"""Servers whose logs do not say it: their ports are looked at."""


class Watched:
    """Times of one start, in s from exec on. own: the server's; ours: dbdyno's."""

    own: float | None = None
    ours: float | None = None

    def watch(self, server: ServerProcess, began: float, is_ready: Callable[[], bool]) -> None:
        """Look until the server is ready or dbdyno has gone on."""
        while self.ours is None:
            looked = time.monotonic()
            if is_ready():
                self.own = looked - began
                return
            time.sleep(LOOK_EVERY_S)
        self.own = self.ours


@contextmanager
def watching(name: str) -> Iterator[dict[ServerProcess, Watched]]:
    """Have every start of a server watched; if dbdyno waits for one twice, the second time counts."""
    starts: dict[ServerProcess, Watched] = {}
    begin, wait = ServerProcess.__init__, ServerProcess.wait_ready

    def watched_begin(server: ServerProcess, *arguments: Any, **more: Any) -> None:
        server.began = time.monotonic()  # type: ignore[attr-defined]
        begin(server, *arguments, **more)

    def watched_wait(server: ServerProcess, *arguments: Any, **more: Any) -> None:
        if server in starts:
            wait(server, *arguments, **more)
            starts[server].ours = time.monotonic() - server.began  # type: ignore[attr-defined]
            return
        watched = starts[server] = Watched()
        looking = threading.Thread(target=watched.watch, args=(server, server.began, _looked_for(name, server)))
        looking.start()
        try:
            wait(server, *arguments, **more)
        finally:
            watched.ours = time.monotonic() - server.began  # type: ignore[attr-defined]
            looking.join()

    ServerProcess.__init__, ServerProcess.wait_ready = watched_begin, watched_wait  # type: ignore[method-assign]
    try:
        yield starts
    finally:
        ServerProcess.__init__, ServerProcess.wait_ready = begin, wait  # type: ignore[method-assign]


def _looked_for(name: str, server: ServerProcess) -> Callable[[], bool]:
    """Return what says whether a server that is starting is ready."""
    if name in SILENT:
        connections = psutil.Process(server.pid).net_connections
        return lambda: any(connection.status == psutil.CONN_LISTEN for connection in connections("tcp"))
    return lambda: READY.search(server.log_path.read_bytes()[server.log_begins :]) is not None


def started(text: str) -> tuple[float, float]:
    """Start a system once, and return its servers' own time and dbdyno's, in s; a cluster's nodes start in turn."""
    (spec,) = with_labels([parse_system(text)])
    system = build(spec)
    with tempfile.TemporaryDirectory() as folder, Guard() as guard, watching(spec.name) as starts:
        try:
            system.start(Launch(guard, Path(folder), clients=8, rows=1000))
        finally:
            system.stop()
    return sum(watched.own or 0 for watched in starts.values()), sum(watched.ours or 0 for watched in starts.values())


def row_of(text: str, count: int) -> tuple[str, bool]:
    """Start a system so often; return its line of the table, and whether dbdyno's limit is kept."""
    times = [started(text) for _ in range(count)]
    ratio, added_s = median(ours / own for own, ours in times), median(ours - own for own, ours in times)
    own_s, ours_s = median(own for own, _ in times), median(ours for _, ours in times)
    return f"| `{text}` | {own_s:.3f} s | {ours_s:.3f} s | {1000 * added_s:.0f} ms | {ratio:.2f} |", ratio <= LIMIT


def main() -> None:
    """Print the table; exit with 1 if a limit is not kept."""
    warn_of_company()
    print(
        "| system | its own, median | dbdyno's, median | added, median | ratio, median |\n|---|---:|---:|---:|---:|",
        flush=True,
    )
    is_kept = True
    for text in sys.argv[1:] or SYSTEMS:
        if reason := missing(parse_system(text)):
            print(f"| `{text}` | {reason} | | | |", flush=True)
            continue
        line, kept = row_of(text, setting("BENCH_PAIRS", 5))
        is_kept &= kept
        print(line, flush=True)
    sys.exit(0 if is_kept else 1)


if __name__ == "__main__":
    main()
