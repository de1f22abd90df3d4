"""Metrics that dbdyno sends to an OpenTelemetry collector each second, by OTLP over HTTP.

Headers, certificates and compression come from the environment variables of OpenTelemetry (OTEL_EXPORTER_OTLP_HEADERS
and so on), so that no secret is on a command line.
"""

from __future__ import annotations

import io
import logging
import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from requests import PreparedRequest, Response, Session

from dbdyno import __version__
from dbdyno.errors import UserError
from dbdyno.experiment.redact import redact
from dbdyno.metrics.endpoint import Delivery, Endpoint
from dbdyno.metrics.figures import METRICS, Figures, Metric

TIMEOUT_S = 3.0
"""Time for one delivery, retries included. A collector that hangs delays the end of a run by at most two of these."""
LONGEST_S = 2 * TIMEOUT_S
"""Time for one delivery whose answer trickles: the library's time-out is for each piece."""
_LOGGER = logging.getLogger("opentelemetry")
"""The messages of the library; a person gets the last one."""


@contextmanager
def deliver(figures: Figures, endpoint: Endpoint, delivery: Delivery) -> Iterator[None]:
    """Send what changes meanwhile. A collector that fails later does not stop a run.

    Raises UserError if nothing there takes metrics when the run begins.
    """
    with _kept_log() as said:
        exporter = _Counting(endpoint.url, delivery)
        # Its own timer would send when nothing has changed, and not when something has.
        reader = PeriodicExportingMetricReader(exporter, export_interval_millis=math.inf)
        resource = Resource.create({"service.name": "dbdyno", "service.version": __version__})
        provider = MeterProvider([reader], resource, shutdown_on_exit=False)
        try:
            _make_instruments(provider, figures)
            reader.collect()
            if delivery.failed:
                raise UserError(
                    f"--metrics: {redact(endpoint.url)} takes no metrics{f': {said[-1]}' if said else ''}; start a "
                    "collector there, or give another URL"
                )
            with _sending(figures, reader.collect):
                yield
        finally:
            provider.shutdown(timeout_millis=TIMEOUT_S * 1000)


class _Counting(OTLPMetricExporter):
    """Counts what it delivers, each on a thread of its own: one that does not end holds up nobody."""

    def __init__(self, url: str, delivery: Delivery) -> None:
        super().__init__(endpoint=url, timeout=TIMEOUT_S, session=_HeadersOnly())
        self._delivery = delivery
        self._thread: threading.Thread | None = None

    def export(
        self, metrics_data: MetricsData, timeout_millis: float | None = 10_000, **others: Any
    ) -> MetricExportResult:
        results: list[MetricExportResult] = []

        def deliver() -> None:
            results.append(super(_Counting, self).export(metrics_data, timeout_millis, **others))

        if not self._thread or not self._thread.is_alive():
            self._thread = threading.Thread(target=deliver, name="delivery", daemon=True)
            self._thread.start()
            self._thread.join(LONGEST_S)
        if not results:
            _LOGGER.error("no answer was complete within %g s", LONGEST_S)
        result = results[0] if results else MetricExportResult.FAILURE
        self._delivery.tried += 1
        self._delivery.failed += result is not MetricExportResult.SUCCESS
        return result


class _HeadersOnly(Session):
    """Leaves the bodies of answers unread: nothing is in them that is needed, and one may have no end."""

    def send(self, request: PreparedRequest, **options: Any) -> Response:
        response = super().send(request, **(options | {"stream": True, "allow_redirects": False}))
        response.close()
        response.raw = io.BytesIO()
        return response


def _make_instruments(provider: MeterProvider, figures: Figures) -> None:
    meter = provider.get_meter("dbdyno", __version__)
    for metric in METRICS:
        make = meter.create_observable_counter if metric.kind == "counter" else meter.create_observable_gauge
        # OpenTelemetry's names have dots, which Prometheus makes underscores of.
        make(metric.name.replace("_", ".", 1), [_observed(figures, metric)], metric.unit or "1", metric.what)


def _observed(figures: Figures, metric: Metric) -> Callable[[CallbackOptions], Iterable[Observation]]:
    return lambda _: [Observation(value, dict(labels)) for labels, value in figures.now(metric).items()]


@contextmanager
def _sending(figures: Figures, send: Callable[[], object]) -> Iterator[None]:
    """Send on its own thread whenever figures changed, and once at the end; no listener waits for that."""
    changed, ending = threading.Event(), threading.Event()

    def run() -> None:
        ends = False
        while not ends:
            changed.wait()
            changed.clear()
            # Asked before it sends: what changes while it sends is sent once more.
            ends = ending.is_set()
            send()

    thread = threading.Thread(target=run, name="metrics", daemon=True)
    thread.start()
    figures.changed = changed.set
    try:
        yield
    finally:
        ending.set()
        changed.set()
        thread.join(2 * TIMEOUT_S)


@contextmanager
def _kept_log() -> Iterator[list[str]]:
    """Keep what the library logs, which is no more than a person needs to know, from the terminal; yields messages."""
    said: list[str] = []
    keeper = _Keeper(said)
    propagated, _LOGGER.propagate = _LOGGER.propagate, False
    _LOGGER.addHandler(keeper)
    try:
        yield said
    finally:
        _LOGGER.removeHandler(keeper)
        _LOGGER.propagate = propagated


class _Keeper(logging.Handler):
    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        # A collector that is gone fails each second of a long run; the last message is enough.
        self._said[:] = [record.getMessage().splitlines()[0].rstrip(".")]
