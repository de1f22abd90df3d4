"""The network between a client host and the server's: round trips, bytes, and what had to be sent again."""

import asyncio
import socket
import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from statistics import fmean, median

from dbdyno.results.json_types import CapacityStated, NetworkStated
from dbdyno.results.samples import AT

RETRANSMITS, SENT, RECEIVED = (
    "network.tcp_retransmits_total",
    "network.sent_bytes_total",
    "network.received_bytes_total",
)
PATIENCE_S = 1.0
_RTT_AT = 68
"""Offset of `tcpi_rtt` in `struct tcp_info` (include/uapi/linux/tcp.h)."""

Row = Mapping[str, float]


def round_trip_to(server_host: str) -> str:
    """Return the column of round trips to a server host."""
    return f"path.{server_host}.round_trip_s"


async def round_trip_s(host: str, port: int) -> float | None:
    """Return how long TCP's opening of a connection took, as this kernel measured it; None if none was opened.

    Both kernels answer it by themselves, so no busy program delays it.
    """
    with suppress(OSError, TimeoutError):
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), PATIENCE_S)
        connection: socket.socket = writer.get_extra_info("socket")
        information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RTT_AT + 4)
        writer.close()
        return float(struct.unpack_from("=I", information, _RTT_AT)[0]) * 1e-6
    return None


def describe_network(
    rows: Sequence[Row], start_unix_s: float, paths: Mapping[str, CapacityStated]
) -> NetworkStated | None:
    """Return what `trial.json` says of a client host's network; None if nothing of it was observed.

    rows: what was observed there, its times by the conductor's clock. start_unix_s: the clients' common start.
    paths: what was measured of the ways to the server hosts, by the names of these.
    """
    idle = [row for row in rows if row[AT] < start_unix_s]
    loaded = [row for row in rows if row[AT] >= start_unix_s]
    if not loaded:
        return None
    first, last = loaded[0], loaded[-1]
    lasted_s = last[AT] - first[AT]

    def per_s(name: str) -> float | None:
        return round((last[name] - first[name]) / lasted_s, 1) if lasted_s > 0 else None

    return {
        "idle_round_trip_us": _mean_us(idle, paths),
        "round_trip_us": _mean_us(loaded, paths),
        "retransmits": last[RETRANSMITS] - first[RETRANSMITS],
        "sent_bytes_per_s": per_s(SENT),
        "received_bytes_per_s": per_s(RECEIVED),
        "paths": [
            {
                "server": name,
                "idle_round_trip_us": _mean_us(idle, [name]),
                "round_trip_us": _mean_us(loaded, [name]),
                "capacity": capacity,
            }
            for name, capacity in paths.items()
        ],
    }


def _mean_us(rows: Sequence[Row], servers: Iterable[str]) -> float | None:
    """Return the mean of the typical round trips to some server hosts, in microseconds."""
    took_s = [[row[column] for row in rows if column in row] for column in map(round_trip_to, servers)]
    typical_s = [median(to_one) for to_one in took_s if to_one]
    return round(fmean(typical_s) * 1e6, 1) if typical_s else None
