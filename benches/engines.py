"""Rows of the load client's two engines against each other: io_uring against epoll, on the same server."""

from collections.abc import Callable

from benches import load, servers
from benches.measured import Placement, Sample
from benches.rows import Measure, Row
from benches.servers import Bench, Started

CLIENTS = (1, 4, 16, 64, 256)


def names(protocol: str) -> tuple[str, ...]:
    """Return the names of a server's rows."""
    return tuple(f"uring-{protocol}-{clients}" for clients in CLIENTS)


def rows(bench: Bench, placement: Placement, started: Started, protocol: str) -> list[Row]:
    """Return a row for each number of clients, in which dbdyno by epoll is the other side; none if not on one CPU."""
    if placement.name != "same":
        return []

    def by(engine: str, clients: int) -> Callable[[], Sample]:
        of = {"clients": clients, "duration_s": bench.seconds, "engine": engine}
        wanted = load.plan(started.store, bench.rows, load.MEASURE, **of)
        return lambda: servers.beside_server_cpu(started, lambda: load.measure(wanted, placement))

    measures = (
        Measure("client CPU per operation", "µs", lambda sample: sample.cpu_us),
        Measure("CPU of client and server per operation", "µs", servers.cpu_of_both_us),
    )
    return [
        Row(
            name,
            f"itself by epoll, {clients} clients",
            measures,
            by("io_uring", clients),
            by("epoll", clients),
        )
        for name, clients in zip(names(protocol), CLIENTS, strict=True)
    ]
