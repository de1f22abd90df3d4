"""Counters of TiDB: its Prometheus metrics, each summed over its labels.

Its SHOW STATUS counts nothing. Its list of connections says nothing of waits. A connection whose request has arrived is
asleep there until the Go runtime has a processor for it, and that is no wait for the client.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dbdyno.errors import RunFailed
from dbdyno.later import LaterModule
from dbdyno.systems.probe import ANSWER_TIMEOUT_S, Probe, named

if TYPE_CHECKING:
    from urllib import request
else:
    request = LaterModule("urllib.request")

METRICS = {
    "tidb_server_connections": "connections",
    "tidb_server_query_total": "queries_total",
    "tidb_server_plan_cache_total": "plan_cache_hits_total",
    "tidb_session_transaction_duration_seconds_count": "transactions_total",
    "tidb_session_retry_error_total": "retry_errors_total",
    "tidb_tikvclient_request_seconds_count": "store_requests_total",
    "tidb_tikvclient_request_seconds_sum": "store_requests_s_total",
    "go_gc_duration_seconds_count": "garbage_collections_total",
}
_SAMPLE = re.compile(r"^(\w+)(?:\{.*\})? (\S+)$", re.MULTILINE)


class TiDBProbe(Probe):
    """Asks at the status port, by HTTP, anew each time."""

    def __init__(self, server: str, status_port: int) -> None:
        """Take where the server shows its status, on this host."""
        super().__init__(server)
        self._status_port = status_port

    def open(self) -> None:
        self.counters()

    def counters(self) -> dict[str, float]:
        return named(metrics_of(self.server, self._status_port), METRICS)

    def close(self) -> None:
        """Nothing is open."""


def metrics_of(server: str, status_port: int) -> dict[str, float]:
    """Return each of a server's metrics, summed over its labels; raises RunFailed if it does not answer."""
    try:
        # A proxy that the environment names is not for servers on this host.
        opener = request.build_opener(request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{status_port}/metrics", timeout=ANSWER_TIMEOUT_S) as answer:
            text = answer.read().decode()
    except OSError as error:
        raise RunFailed(f"{server} does not show its figures: {error}") from None
    sums: dict[str, float] = {}
    for name, value in _SAMPLE.findall(text):
        sums[name] = sums.get(name, 0.0) + float(value)
    return sums
