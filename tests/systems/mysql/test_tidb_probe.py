"""The figures of a server's metrics, and of a real one."""

import http.server
import threading

import pytest

from dbdyno.errors import RunFailed
from dbdyno.systems.mysql.tidb_probe import metrics_of
from dbdyno.systems.running.ports import free_port

METRICS = b"""\
# HELP tidb_server_query_total Counter of queries.
# TYPE tidb_server_query_total counter
tidb_server_query_total{result="Error",type="Query"} 2
tidb_server_query_total{result="OK",type="StmtExecute"} 1.5e+03
process_cpu_seconds_total 12.25
"""


class Status(http.server.BaseHTTPRequestHandler):
    """Answers as the status port does."""

    def do_GET(self):
        self.send_response(200 if self.path == "/metrics" else 404)
        self.end_headers()
        self.wfile.write(METRICS)

    def log_message(self, *_):
        """Keep silent."""


@pytest.fixture
def port():
    with http.server.HTTPServer(("127.0.0.1", 0), Status) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_metric_is_summed_over_its_labels(port, monkeypatch):
    # Whatever proxy the environment names is not asked.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    metrics = metrics_of("tidb", port)
    assert metrics["tidb_server_query_total"] == 1502 and metrics["process_cpu_seconds_total"] == 12.25
    assert set(metrics) == {"tidb_server_query_total", "process_cpu_seconds_total"}


def test_who_does_not_answer_does_not_show_its_figures():
    with pytest.raises(RunFailed, match="tidb does not show its figures"):
        metrics_of("tidb", free_port())


@pytest.mark.systems
def test_a_real_server_shows_its_figures_and_no_waits(started):
    server = started("tidb")
    (probe,) = server.probes()
    probe.open()
    first = probe.counters()
    assert {"queries_total", "connections", "store_requests_total"} <= set(first)
    server._query("SELECT 1")
    assert probe.counters()["queries_total"] > first["queries_total"]
    assert probe.waits() is None
    probe.close()
    server._server._process.kill()
    server._server._process.wait()
    with pytest.raises(RunFailed, match="does not show its figures"):
        probe.open()
