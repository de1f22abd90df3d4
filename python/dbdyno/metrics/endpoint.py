"""The destination of metrics, as a person writes it: `prometheus:9464` or `otlp:http://collector:4318`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from urllib.parse import urlsplit

from dbdyno.errors import UserError
from dbdyno.metrics.figures import Figures

PROMETHEUS_PORT = 9464
"""The usual port of Prometheus exporters of OpenTelemetry."""
_HOST = "127.0.0.1"
_COLLECTOR = "http://localhost:4318"
_PATH = "/v1/metrics"
_SIGNAL_VARIABLE, _VARIABLE = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
_LIBRARIES = {"prometheus": "prometheus_client", "otlp": "opentelemetry"}


@dataclass
class Delivery:
    """Metrics on their way: where they are or go, and how many deliveries failed of those that were tried."""

    address: str
    tried: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Endpoint:
    """A destination of metrics: with `prometheus` it has host and port, with `otlp` the address of a collector."""

    way: str
    host: str = ""
    port: int = 0
    url: str = ""


def parse_endpoint(text: str) -> Endpoint:
    """Read an endpoint; raises UserError that says how one is written."""
    way, _, rest = text.partition(":")
    if way == "prometheus":
        host, _, port = rest.rpartition(":")
        port = port or str(PROMETHEUS_PORT)
        if port.isdecimal() and len(port) <= 5 and int(port) < 1 << 16:
            return Endpoint(way, host=host.strip("[]") or _HOST, port=int(port))
    elif way == "otlp":
        url = rest or _from_environment()
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            return Endpoint(way, url=url if parts.path.strip("/") else url.rstrip("/") + _PATH)
    raise UserError(
        f"--metrics {text}: give prometheus, prometheus:{PROMETHEUS_PORT}, prometheus:0.0.0.0:{PROMETHEUS_PORT}, otlp "
        f"or otlp:{_COLLECTOR}"
    )


def _from_environment() -> str:
    return os.environ.get(_SIGNAL_VARIABLE) or os.environ.get(_VARIABLE, _COLLECTOR).rstrip("/") + _PATH


@contextmanager
def delivered(figures: Figures, endpoint: Endpoint) -> Iterator[Delivery]:
    """Deliver the metrics of a run meanwhile.

    Raises UserError if that cannot begin: its library is missing, the port is taken, or nobody takes them.
    """
    try:
        module = import_module(f"dbdyno.metrics.{endpoint.way}")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(_LIBRARIES[endpoint.way]):
            raise
        raise UserError(f"--metrics: {error.name} is not installed: pip install 'dbdyno[{endpoint.way}]'") from None
    delivery = Delivery(endpoint.url)
    with module.deliver(figures, endpoint, delivery):
        yield delivery
