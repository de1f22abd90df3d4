"""What TiDB shows of itself: the sums of its Prometheus metrics, and what its connections do.

Its SHOW STATUS counts nothing, and what its tables of MySQL's and InnoDB's names say is empty.
"""

import re
from collections import Counter
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from dbdyno.errors import RunFailed
from dbdyno.systems.endpoint import Endpoint
from dbdyno.systems.mysql_probe import MySQLProbe
from dbdyno.systems.probe import ANSWER_TIMEOUT_S, named
from dbdyno.systems.wait_events import LOCKED

METRICS = {
    "tidb_server_connections": "connections",
    "tidb_server_query_total": "queries_total",
    "tidb_server_plan_cache_total": "plan_cache_hits_total",
    "tidb_session_transaction_duration_seconds_count": "transactions_total",
    "tidb_session_retry_error_total": "retry_errors_total",
    "tidb_tikvclient_lock_resolver_actions_total": "locks_resolved_total",
    "tidb_tikvclient_request_seconds_count": "store_requests_total",
    "tidb_tikvclient_request_seconds_sum": "store_requests_s_total",
    "process_cpu_seconds_total": "cpu_s_total",
    "go_gc_duration_seconds_count": "garbage_collections_total",
}
# What it says of a connection's state is whether a transaction is open, which is no wait.
_WAITS = (
    "SELECT COMMAND, '', COUNT(*) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() GROUP BY COMMAND "
    f"UNION ALL SELECT '{LOCKED}', '', COUNT(*) FROM information_schema.TIDB_TRX WHERE STATE = 'LockWaiting'"
)
_SAMPLE = re.compile(r"^(\w+)(?:\{.*\})? (\S+)$", re.MULTILINE)
# A proxy that the environment names is not for servers on this host.
_OPENER = build_opener(ProxyHandler({}))


class TiDBProbe(MySQLProbe):
    """Asks for its counters by HTTP at its status port, and for its waits on a connection that stays open."""

    def __init__(self, server: str, endpoint: Endpoint, status_port: int) -> None:
        """Take where the server answers, in SQL and with its status."""
        super().__init__(server, endpoint)
        self._status_port = status_port
        self._waits = _WAITS

    def _see_what_is_shown(self) -> None:
        self.counters()

    def counters(self) -> dict[str, float]:
        return named(metrics_of(self.server, self._status_port), METRICS)


def metrics_of(server: str, status_port: int) -> Counter[str]:
    """Return each of a server's metrics, summed over its labels; raises RunFailed if it does not answer."""
    try:
        with _OPENER.open(f"http://127.0.0.1:{status_port}/metrics", timeout=ANSWER_TIMEOUT_S) as answer:
            text = answer.read().decode()
    except (URLError, OSError) as error:
        raise RunFailed(f"{server} does not show its figures: {error}") from None
    sums: Counter[str] = Counter()
    for name, value in _SAMPLE.findall(text):
        sums[name] += float(value)
    return sums
