"""The network between a client host and the server's: round trips, bytes, and what had to be sent again."""

import asyncio
import socket
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from statistics import median

from dbdyno.results.samples import AT

ROUND_TRIP = "network.round_trip_s"
RETRANSMITS, SENT, RECEIVED = (
    "network.tcp_retransmits_total",
    "network.sent_bytes_total",
    "network.received_bytes_total",
)
PATIENCE_S = 1.0
_RTT_AT = 68
"""Offset of `tcpi_rtt` in `struct tcp_info` (include/uapi/linux/tcp.h)."""

Row = Mapping[str, float]


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


def describe_network(rows: Sequence[Row], start_unix_s: float) -> dict[str, float | None] | None:
    """Return what `trial.json` says of a client host's network; None if nothing of it was observed.

    rows: what was observed there, its times by the conductor's clock. start_unix_s: the clients' common start.
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
        "idle_round_trip_us": _typical_us(idle),
        "round_trip_us": _typical_us(loaded),
        "retransmits": last[RETRANSMITS] - first[RETRANSMITS],
        "sent_bytes_per_s": per_s(SENT),
        "received_bytes_per_s": per_s(RECEIVED),
    }


def _typical_us(rows: Sequence[Row]) -> float | None:
    took_s = [row[ROUND_TRIP] for row in rows if ROUND_TRIP in row]
    return round(median(took_s) * 1e6, 1) if took_s else None
