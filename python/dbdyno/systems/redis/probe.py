"""Counters of a Redis or Valkey server, from INFO. It does not show what its clients wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbdyno.errors import RunFailed
from dbdyno.later import LaterModule
from dbdyno.systems.probe import Names, Probe, named

if TYPE_CHECKING:
    import redis
else:
    redis = LaterModule("redis")

INFO: Names = {
    "total_commands_processed": "commands_total",
    "keyspace_hits": "keyspace_hits_total",
    "keyspace_misses": "keyspace_misses_total",
    "evicted_keys": "evicted_keys_total",
    "expired_keys": "expired_keys_total",
    "total_error_replies": "error_replies_total",
    "total_net_input_bytes": "received_bytes_total",
    "total_net_output_bytes": "sent_bytes_total",
    "connected_clients": "connected_clients",
    "blocked_clients": "blocked_clients",
    "used_memory": "memory_bytes",
    "used_memory_rss": "memory_resident_bytes",
    "mem_fragmentation_ratio": "memory_fragmentation_ratio",
    "rdb_changes_since_last_save": "changes_since_save",
    "rdb_bgsave_in_progress": "snapshot_in_progress",
    "aof_rewrite_in_progress": "log_rewrite_in_progress",
    "aof_pending_bio_fsync": "log_flushes_pending",
    "aof_delayed_fsync": "log_flushes_delayed_total",
    "aof_current_size": "log_bytes",
    "latest_fork_usec": ("latest_fork_s", 1e-6),
    "total_forks": "forks_total",
    "used_cpu_sys_main_thread": "main_thread_system_s_total",
    "used_cpu_user_main_thread": "main_thread_user_s_total",
    "io_threaded_reads_processed": "threaded_reads_total",
    "io_threaded_writes_processed": "threaded_writes_total",
}


class RedisProbe(Probe):
    """Asks for INFO; it keeps the one thread that serves clients for about a tenth of a millisecond."""

    def __init__(self, server: str, client: redis.Redis) -> None:
        """Take a client that has not connected yet; its time-outs are its own."""
        super().__init__(server)
        self._client = client

    def open(self) -> None:
        self._info()

    def counters(self) -> dict[str, float]:
        return named(self._info(), INFO)

    def _info(self) -> dict[str, object]:
        try:
            return self._client.info()
        except redis.RedisError as error:
            raise RunFailed(f"{self.server} does not show its figures: {error}") from None

    def close(self) -> None:
        self._client.close()
