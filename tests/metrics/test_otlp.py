"""OpenTelemetry's own messages read what a collector gets; one collector is absent, one fails later."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from dbdyno.errors import UserError
from dbdyno.metrics import otlp
from dbdyno.metrics.endpoint import delivered, parse_endpoint
from fakes import hostile
from helpers import wait_until
from metrics.conftest import LABELS, ended, interval


class Collector:
    """Takes what it is sent; `status` is its answer, which waits for `answers`."""

    def __init__(self):
        self.status, self.requests, self.paths = 200, [], []
        self.answers = threading.Event()
        self.answers.set()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.paths.append(self.path)
                collector.requests.append(ExportMetricsServiceRequest.FromString(body))
                collector.answers.wait()
                self.send_response(collector.status)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = parse_endpoint(f"otlp:http://127.0.0.1:{self.server.server_port}")

    def points(self):
        """The last points, by name of metric."""
        if not self.requests:
            return {}
        metrics = self.requests[-1].resource_metrics[0].scope_metrics[0].metrics
        return {
            metric.name: list((metric.sum if metric.HasField("sum") else metric.gauge).data_points)
            for metric in metrics
        }


@pytest.fixture
def collector():
    made = Collector()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def labels_of(point):
    return {attribute.key: attribute.value.string_value for attribute in point.attributes}


def test_each_second_is_sent(collector, figures, trial):
    with delivered(figures, collector.endpoint) as delivery:
        assert delivery.address == collector.endpoint.url
        figures.trial_begins(trial)
        figures.record_came(interval(2000))
        (point,) = wait_until(lambda: collector.points().get("dbdyno.transactions"))
        assert (point.as_double, labels_of(point)) == (2000, LABELS)
        points = collector.points()
        assert points["dbdyno.transactions_per_second"][0].as_double == 2000
        latencies = {labels_of(point)["statistic"]: point.as_double for point in points["dbdyno.latency"]}
        assert set(latencies) == {"p50", "p95", "p99", "max"} and latencies["max"] == 0.004
        figures.trial_ended(ended(trial))
    assert set(collector.paths) == {"/v1/metrics"} and delivery.failed == 0 < delivery.tried
    # The last delivery, at the end of the run, has the last state.
    assert labels_of(collector.points()["dbdyno.trials_ended"][0])["state"] == "complete"
    assert "dbdyno.transactions_per_second" not in collector.points()
    resource = {
        attribute.key: attribute.value.string_value
        for attribute in collector.requests[0].resource_metrics[0].resource.attributes
    }
    assert resource["service.name"] == "dbdyno"


def test_what_changes_during_the_last_delivery_is_sent(collector, figures, trial):
    with delivered(figures, collector.endpoint):
        collector.answers.clear()
        figures.trial_begins(trial)
        figures.record_came(interval())
        wait_until(lambda: len(collector.requests) == 2)
        figures.trial_ended(ended(trial))
        threading.Timer(0.2, collector.answers.set).start()
    assert labels_of(collector.points()["dbdyno.trials_ended"][0])["state"] == "complete"


def test_nobody_there_is_told_before_a_run_begins(collector, figures, capfd):
    collector.status = 404
    with pytest.raises(UserError, match=r"takes no metrics: .*404"), delivered(figures, collector.endpoint):
        pytest.fail("began")
    assert capfd.readouterr() == ("", "")


def test_a_collector_that_fails_later_stops_nothing(collector, figures, trial, capfd):
    with delivered(figures, collector.endpoint) as delivery:
        collector.status = 400
        figures.trial_begins(trial)
        figures.record_came(interval())
        wait_until(lambda: delivery.failed)
    assert 0 < delivery.failed < delivery.tried
    assert capfd.readouterr() == ("", "")


def test_a_collector_whose_answer_trickles_is_given_up(figures, monkeypatch):
    """The library waits for ever: its time-out is for each piece."""
    monkeypatch.setattr(otlp, "LONGEST_S", 0.5)
    with (
        hostile.server(hostile.trickles(b"HTTP/1.1 200 OK\r\nX-A: b", pause_s=0.2)) as port,
        pytest.raises(UserError, match=r"takes no metrics: no answer was complete within 0\.5 s"),
        delivered(figures, parse_endpoint(f"otlp:http://127.0.0.1:{port}")),
    ):
        pytest.fail("began")


def test_what_a_collector_adds_to_its_answer_is_not_read(figures):
    endless = hostile.says(b"HTTP/1.1 200 OK\r\n\r\n", b"A" * (1 << 16), at_once=False)
    with (
        hostile.server(endless) as port,
        delivered(figures, parse_endpoint(f"otlp:http://127.0.0.1:{port}")) as delivery,
    ):
        assert (delivery.tried, delivery.failed) == (1, 0)


def test_deliveries_go_on_when_one_that_hung_has_ended(collector, figures, trial, monkeypatch):
    with delivered(figures, collector.endpoint) as delivery:
        monkeypatch.setattr(otlp, "LONGEST_S", 0.1)
        collector.answers.clear()
        figures.trial_begins(trial)
        figures.record_came(interval())
        wait_until(lambda: delivery.failed)
        monkeypatch.undo()
        collector.answers.set()
        before = delivery.tried - delivery.failed
        wait_until(lambda: figures.changed() or delivery.tried - delivery.failed > before)
