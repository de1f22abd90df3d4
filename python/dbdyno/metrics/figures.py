"""The figures of a run while it runs, for every receiver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dbdyno import __version__
from dbdyno.conduct.listener import Listener, Outcome
from dbdyno.contract import CountedRecord, IntervalRecord, Record
from dbdyno.experiment.redact import redact
from dbdyno.experiment.trials import Trial
from dbdyno.stats.histogram import Histogram

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        name: in Prometheus's form, without `_total` and without the unit.
        kind: a `counter` only rises; a `gauge` is of the last second, and gone when its trial ends.
        unit: `s` or empty.
        labels: beside those of the trial.
    """

    name: str
    kind: Literal["counter", "gauge"]
    unit: str
    what: str
    labels: tuple[str, ...] = ()


RUN_LABELS = ("experiment", "run")
TRIAL_LABELS = (*RUN_LABELS, "trial", "system", "workload", "clients", "rate", "repeat")

BUILD = Metric("dbdyno_build_info", "gauge", "", "Version of dbdyno; always 1", ("version",))
TRIALS = Metric("dbdyno_trials_planned", "gauge", "", "Trials of the run")
ENDED = Metric("dbdyno_trials_ended", "counter", "", "Trials that ended", ("state",))
TRANSACTIONS = Metric("dbdyno_transactions", "counter", "", "Transactions completed, warm-up included")
SCHEDULED = Metric("dbdyno_transactions_scheduled", "counter", "", "Transactions due in an open loop")
FAILED = Metric("dbdyno_operations_failed", "counter", "", "Operations that failed", ("kind",))
CLIENT_CPU = Metric("dbdyno_client_cpu", "counter", "s", "Processor seconds of the load client")
THROUGHPUT = Metric("dbdyno_transactions_per_second", "gauge", "", "Transactions per second in the last second")
LATENCY = Metric(
    "dbdyno_latency",
    "gauge",
    "s",
    "Response time in an open loop, else service time, of the last second",
    ("statistic",),
)
CONNECTED = Metric("dbdyno_connected_clients", "gauge", "", "Clients connected")
WARMUP = Metric("dbdyno_warmup", "gauge", "", "1 during the warm-up, else 0")
OF_RUN = (TRIALS, ENDED)
METRICS = (BUILD, *OF_RUN, TRANSACTIONS, SCHEDULED, FAILED, CLIENT_CPU, THROUGHPUT, LATENCY, CONNECTED, WARMUP)


def labels_of(metric: Metric) -> tuple[str, ...]:
    """Return the names of all labels of a metric."""
    if metric == BUILD:
        return metric.labels
    return (*(RUN_LABELS if metric in OF_RUN else TRIAL_LABELS), *metric.labels)


@dataclass
class Figures(Listener):
    """Listens to a run and knows its metrics now; may be asked from any thread.

    changed: called when a second came, or a trial ended.
    """

    experiment: str
    changed: Callable[[], None] = field(default=lambda: None)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[Metric, dict[Labels, float]] = {metric: {} for metric in METRICS}
        self._values[BUILD][("version", __version__),] = 1.0
        self._run: Labels = ()
        self._trial: Labels | None = None

    def now(self, metric: Metric) -> Mapping[Labels, float]:
        """Return the values of a metric by its labels, as they are now."""
        with self._lock:
            return dict(self._values[metric])

    def run_begins(self, folder: Path, trials: int, trial_s: int) -> None:
        with self._lock:
            self._run = (("experiment", self.experiment), ("run", folder.name))
            self._values[TRIALS][self._run] = trials

    def trials_are_added(self, trials: int, why: str) -> None:
        with self._lock:
            self._values[TRIALS][self._run] += trials

    def steps_are_left_out(self, trials: int, sentence: str) -> None:
        with self._lock:
            self._values[TRIALS][self._run] -= trials

    def trial_begins(self, trial: Trial) -> None:
        described = {
            "trial": trial.name,
            "system": redact(trial.system.label),
            "workload": str(trial.workload),
            "clients": str(trial.clients),
            "rate": trial.rate.words if trial.rate else "",
            "repeat": str(trial.repeat),
        }
        with self._lock:
            self._trial = (*self._run, *described.items())

    def record_came(self, record: Record) -> None:
        # After a trial there may be loads that are in no figure, such as the one that confirms its limit.
        if record["record"] != "interval" or self._trial is None:
            return
        with self._lock:
            self._take(self._trial, record)
        self.changed()

    def trial_ended(self, outcome: Outcome) -> None:
        with self._lock:
            for metric, values in self._values.items():
                if metric.kind == "gauge" and metric not in (BUILD, *OF_RUN):
                    values.clear()
            self._trial = None
            self._add(ENDED, (*self._run, ("state", outcome.state)), 1)
        self.changed()

    def _take(self, trial: Labels, interval: IntervalRecord) -> None:
        transactions, seconds = interval["transactions"], interval["seconds"]
        self._add(TRANSACTIONS, trial, transactions["completed"])
        self._add(CLIENT_CPU, trial, interval["client_cpu_s"])
        if (due := transactions.get("scheduled")) is not None:
            self._add(SCHEDULED, trial, due)
        for kind, count in interval.get("errors", {}).items():
            self._add(FAILED, (*trial, ("kind", kind)), count)
        self._values[THROUGHPUT][trial] = transactions["completed"] / seconds if seconds else 0.0
        self._values[CONNECTED][trial] = interval["connected"]
        self._values[WARMUP][trial] = float(interval["warmup"])
        self._values[LATENCY] = _latencies(trial, transactions)

    def _add(self, metric: Metric, labels: Labels, amount: float) -> None:
        self._values[metric][labels] = self._values[metric].get(labels, 0.0) + amount


def _latencies(trial: Labels, transactions: CountedRecord) -> dict[Labels, float]:
    """Return the latencies of a second, in seconds; a percentile that too few transactions tell is left out."""
    times = transactions.get("response_time") or transactions.get("service_time")
    histogram = Histogram.from_record(times) if times else Histogram.merged([])
    if not histogram.count:
        return {}
    times_ns = {name: histogram.percentile_ns(percent) for name, percent in PERCENTILES.items()}
    times_ns["max"] = float(histogram.max_ns)
    return {(*trial, ("statistic", name)): time_ns / 1e9 for name, time_ns in times_ns.items() if time_ns is not None}
