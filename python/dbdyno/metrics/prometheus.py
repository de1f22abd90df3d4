"""Metrics that a Prometheus server scrapes from dbdyno while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from dbdyno.errors import UserError
from dbdyno.metrics.endpoint import Delivery, Endpoint
from dbdyno.metrics.figures import METRICS, Figures, labels_of


@contextmanager
def deliver(figures: Figures, endpoint: Endpoint, delivery: Delivery) -> Iterator[None]:
    """Answer scrapes meanwhile, on port 0 on any free one.

    Raises UserError if the port is taken.
    """
    registry = CollectorRegistry()
    registry.register(_Scraped(figures))
    try:
        server, thread = start_http_server(endpoint.port, endpoint.host, registry)
    except OSError as error:
        listen_address = f"{endpoint.host}:{endpoint.port}"
        raise UserError(f"--metrics: {listen_address}: {error.strerror or error}; give another host or port") from None
    delivery.address = f"http://{endpoint.host}:{server.server_port}/metrics"
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Scraped(Collector):
    """Makes the metrics anew for each scrape."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        for metric in METRICS:
            name = f"{metric.name}_seconds" if metric.unit == "s" else metric.name
            family = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            made = family(name, metric.what, labels=labels_of(metric))
            for labels, value in self._figures.now(metric).items():
                made.add_metric([text for _, text in labels], value)
            yield made
