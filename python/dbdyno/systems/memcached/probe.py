"""Counters of a memcached, from `stats`. It does not show what its clients wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbdyno.errors import RunFailed
from dbdyno.later import LaterModule
from dbdyno.systems.probe import ANSWER_TIMEOUT_S, Names, Probe, named

if TYPE_CHECKING:
    import pymemcache
else:
    pymemcache = LaterModule("pymemcache")

STATS: Names = {
    "cmd_get": "gets_total",
    "cmd_set": "sets_total",
    "get_hits": "get_hits_total",
    "get_misses": "get_misses_total",
    "delete_hits": "delete_hits_total",
    "evictions": "evictions_total",
    "reclaimed": "reclaimed_total",
    "bytes_read": "received_bytes_total",
    "bytes_written": "sent_bytes_total",
    "curr_connections": "connected_clients",
    "listen_disabled_num": "listening_stopped_total",
    "time_in_listen_disabled_us": ("listening_stopped_s_total", 1e-6),
    "conn_yields": "connection_yields_total",
    "lrutail_reflocked": "items_locked_total",
    "rusage_user": "cpu_user_s_total",
    "rusage_system": "cpu_system_s_total",
    "bytes": "items_bytes",
    "curr_items": "items",
    "limit_maxbytes": "memory_limit_bytes",
}


class MemcachedProbe(Probe):
    """Asks for `stats` on a connection that stays open."""

    def __init__(self, server: str, address: str | tuple[str, int]) -> None:
        """Take the path of a Unix socket, or a host and a port."""
        super().__init__(server)
        self._client = pymemcache.Client(address, connect_timeout=ANSWER_TIMEOUT_S, timeout=ANSWER_TIMEOUT_S)

    def open(self) -> None:
        self._stats()

    def counters(self) -> dict[str, float]:
        return named(self._stats(), STATS)

    def _stats(self) -> dict[str, object]:
        try:
            return {key.decode(): value for key, value in self._client.stats().items()}
        except (OSError, pymemcache.MemcacheError) as error:
            raise RunFailed(f"{self.server} does not show its figures: {error}") from None

    def close(self) -> None:
        self._client.close()
