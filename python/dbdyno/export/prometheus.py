"""Trials or seconds in the text formats of Prometheus.

Trials are gauges without a time, for a Pushgateway or the textfile collector of the node exporter. Seconds are
OpenMetrics with the time of each, for `promtool tsdb create-blocks-from openmetrics`.
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import exposition
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector, CollectorRegistry

from dbdyno.contract import JsonObject
from dbdyno.tables.table import Table
from dbdyno.tables.trials import IDENTITY, STATISTICS

US = 1e-6
_LABELS = [column.name if column.name != "label" else "system" for column in IDENTITY]
_OF_TRIALS = (
    ("transactions_per_second", "throughput_per_s", 1.0, "Transactions per second"),
    ("measured_seconds", "seconds", 1.0, "Measured seconds"),
    ("transactions", "transactions", 1.0, "Transactions completed in the measured seconds"),
    ("errors", "errors", 1.0, "Failed operations, warm-up included"),
    ("mismatches", "mismatches", 1.0, "Rows that were not what was written"),
    ("client_cpu_seconds_per_transaction", "client_cpu_us_per_transaction", US, "CPU of the client per transaction"),
    ("server_cpu_seconds_per_transaction", "server_cpu_us_per_transaction", US, "CPU of the servers per transaction"),
    ("data_bytes", "data_bytes", 1.0, "Data on disk at the end"),
)
_OF_SECONDS = (
    ("transactions_per_second", "transactions_per_s", 1.0, "Transactions per second"),
    ("connected_clients", "connected", 1.0, "Clients connected"),
    ("errors", "errors", 1.0, "Operations that failed in this second"),
)


def to_prometheus(table: Table) -> str:
    """Return the table `trials` or `seconds` as metrics."""
    registry = CollectorRegistry()
    if table.name == "seconds":
        registry.register(_Metrics(list(_seconds(table))))
        written: bytes = openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call]
        return written.decode()
    registry.register(_Metrics(list(_trials(table))))
    return exposition.generate_latest(registry).decode()


class _Metrics(Collector):
    """Hands out metrics that are made already."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _trials(table: Table) -> Iterable[Metric]:
    rows = [row for row in _rows(table) if row["clients"] is not None]
    for name, column, unit, what in _OF_TRIALS:
        yield _gauge(f"dbdyno_trial_{name}", what, rows, column, unit)
    complete = [{**row, "complete": float(row["state"] == "complete")} for row in rows]
    yield _gauge("dbdyno_trial_complete", "1 if the trial ran to its end, else 0", complete, "complete", 1.0)
    latency = GaugeMetricFamily(
        "dbdyno_trial_latency_seconds",
        "Latency of transactions: service time, in an open loop response time too",
        labels=[*_LABELS, "time", "statistic"],
    )
    for row in rows:
        for time in ("service", "response"):
            for statistic in STATISTICS:
                if (value_us := row[f"{time}_time_{statistic}_us"]) is not None:
                    latency.add_metric([*_label_values(row), time, statistic], value_us * US)
    yield latency


def _seconds(table: Table) -> Iterable[Metric]:
    rows = [row for row in _rows(table) if row["at_unix_s"] is not None]
    for name, column, unit, what in _OF_SECONDS:
        yield _gauge(f"dbdyno_{name}", what, rows, column, unit)
    latency = GaugeMetricFamily(
        "dbdyno_latency_seconds",
        "Latency of the transactions of this second: response time in an open loop, else service time",
        labels=[*_LABELS, "statistic"],
    )
    # All of one series stands together, or it would be no OpenMetrics.
    for statistic in ("p50", "p99", "max"):
        for row in rows:
            if (value_us := row[f"{statistic}_us"]) is not None:
                latency.add_metric([*_label_values(row), statistic], value_us * US, timestamp=_end_s(row))
    yield latency


def _gauge(name: str, what: str, rows: Iterable[JsonObject], column: str, unit: float) -> Metric:
    gauge = GaugeMetricFamily(name, what, labels=_LABELS)
    for row in rows:
        if row[column] is not None:
            gauge.add_metric(_label_values(row), row[column] * unit, timestamp=_end_s(row))
    return gauge


def _end_s(row: JsonObject) -> float | None:
    """Return when a second ended, or None for a trial."""
    return row["at_unix_s"] + row["seconds"] if "at_unix_s" in row else None


def _label_values(row: JsonObject) -> list[str]:
    return ["" if row[column.name] is None else str(row[column.name]) for column in IDENTITY]


def _rows(table: Table) -> Iterable[JsonObject]:
    names = [column.name for column in table.columns]
    return (dict(zip(names, row, strict=True)) for row in table.rows())
