"""A run as it is read back from its folder: plain values, histograms already merged, nothing computed twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dbdyno.results.facts import PreparationFacts, RunFacts, TrialFacts
from dbdyno.results.observations import read_observations
from dbdyno.stats.backlog import Offered, behind
from dbdyno.stats.stability import Stability, stability
from dbdyno.stats.stalls import Stalls, stalls

if TYPE_CHECKING:
    from dbdyno.contract import (
        CheckRecord,
        EndRecord,
        ErrorRecord,
        HelloRecord,
        JsonObject,
        MismatchRecord,
        QueryPlanRecord,
        TotalRecord,
    )
    from dbdyno.results.conclusions import Conclusions
    from dbdyno.results.confirmation import Confirmation
    from dbdyno.results.environment import Environment
    from dbdyno.results.samples import Observations
    from dbdyno.results.slowest import Slow
    from dbdyno.stats.histogram import Histogram
    from dbdyno.stats.steady_state import SteadyState

WHOLE_SECOND = 0.9
"""A last second that was cut shorter than this is no second of a series."""


class Interval(NamedTuple):
    """One second of a trial. `None` if too few samples tell.

    A tuple, as a run may have 60,000 of them, and making one of a frozen dataclass takes ten times as long.

    Attributes:
        p50_ns, p95_ns, p99_ns, p999_ns, max_ns: of transactions' response times in an open loop, of their service
            times in a closed one.
        scheduled: arrivals that were due in it; `None` in a closed loop, which has none.
        second: counted from the start of the run phase, warm-up included.
        warmup: left out of the figures; with `warmup = "auto"` also what came before the cut.
        seconds: its length in seconds, 1.0 but for a last one that was cut short.
        errors: how many of each kind.
        service_s: service times of all its completed transactions added up, in seconds.
        thread_cpu_s, thread_run_queue_s: of each load thread, what it used and how long it was ready and waited for a
            processor; empty if the load client does not say.
        profiled: left out of the figures, as stacks were recorded in it.
    """

    second: int
    warmup: bool
    seconds: float
    connected: int
    completed: int
    failed: int
    p50_ns: float | None
    p95_ns: float | None
    p99_ns: float | None
    p999_ns: float | None
    max_ns: int
    errors: Mapping[str, int]
    reads_verified: int
    mismatches: int
    client_cpu_s: float
    counters: Mapping[str, float]
    scheduled: int | None = None
    service_s: float = 0.0
    thread_cpu_s: tuple[float, ...] = ()
    thread_run_queue_s: tuple[float, ...] = ()
    profiled: bool = False

    @property
    def measured(self) -> bool:
        """Return whether the figures are taken from it."""
        return not self.warmup and not self.profiled


class LoadThread(NamedTuple):
    """The shares of the measured time that a load thread was on a processor, and ready but waiting for one.

    run_queue_share: `None` if the kernel does not say.
    """

    cpu_share: float
    run_queue_share: float | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a workload's transaction, over a whole trial.

    Attributes:
        operation: the logical operation (`get`, `update` …), or `None` when the load client did not say.
        service_time: sent to completed, of the operations completed after the warm-up.
        failed: over all seconds, the warm-up's too.
        response_time, send_lag: scheduled to completed and scheduled to sent, of the same; `None` in a closed loop.
        slowest: of the response times if there are any, else of the service times.
    """

    name: str
    operation: str | None
    table: str | None
    service_time: Histogram
    failed: int
    response_time: Histogram | None = None
    send_lag: Histogram | None = None
    slowest: tuple[Slow, ...] = ()


@dataclass(frozen=True, slots=True)
class Sums:
    """Counters of all seconds of a trial, warm-up included, added up.

    Attributes:
        conflicts: transactions that met another one and were tried again.
        scheduled: arrivals that were due; `None` in a closed loop.
        operations: completed and failed of each operation.
    """

    completed: int = 0
    failed: int = 0
    reads_verified: int = 0
    mismatches: int = 0
    conflicts: int = 0
    scheduled: int | None = None
    operations: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Recorded:
    """The load client's records of a trial (`records.jsonl`).

    Attributes:
        hello, total, end: those records, or `None` when the file ends before them.
        service_time: of the transactions completed after the warm-up.
        response_time, send_lag: of the same; `None` in a closed loop.
        slowest: of the response times if there are any, else of the service times.
        steady: the steady state of the whole seconds after the requested warm-up.
        cut: the figures begin where that found the steady state to begin (`warmup = "auto"`).
        run_began_unix_s: when the first second of the run began, or `None` when it did not.
        sums: counters of all intervals added up, for the counter identities.
        gaps_ns: begin and length of the times without a completion, from the start of the run, int64, shape (n, 2);
            `None` if the load client does not record them.
        hot_unix_s: begin and end of the time in which each query of an analysis was asked hot, in seconds since the
            epoch; empty for another trial.
    """

    hello: HelloRecord | None
    intervals: tuple[Interval, ...]
    service_time: Histogram
    operations: tuple[Operation, ...]
    errors: tuple[ErrorRecord, ...]
    mismatches: tuple[MismatchRecord, ...]
    checks: tuple[CheckRecord, ...]
    run_began_unix_s: float | None
    sums: Sums
    total: TotalRecord | None
    end: EndRecord | None
    steady: SteadyState
    cut: bool
    response_time: Histogram | None = None
    send_lag: Histogram | None = None
    slowest: tuple[Slow, ...] = ()
    gaps_ns: np.ndarray | None = field(default=None, compare=False)
    query_plans: tuple[QueryPlanRecord, ...] = ()
    hot_unix_s: tuple[tuple[float, float], ...] = ()

    @cached_property
    def measured(self) -> tuple[Interval, ...]:
        """The intervals after the warm-up without profiled ones: those the figures are taken from."""
        return tuple(interval for interval in self.intervals if interval.measured)

    @cached_property
    def seconds(self) -> float:
        """How long was measured, in seconds, warm-up and profiled seconds left out."""
        return sum(interval.seconds for interval in self.measured)

    @cached_property
    def completed(self) -> int:
        """Transactions completed in the measured seconds."""
        return sum(interval.completed for interval in self.measured)

    @cached_property
    def load_threads(self) -> tuple[LoadThread, ...]:
        """Use of each load thread in the measured seconds; empty if that was not recorded, or no second was."""
        if self.seconds <= 0:
            return ()
        used = zip(*(interval.thread_cpu_s for interval in self.measured), strict=False)
        shares = [sum(of_thread) / self.seconds for of_thread in used]
        waited = list(zip(*(interval.thread_run_queue_s for interval in self.measured), strict=False))
        waits = [sum(of_thread) / self.seconds for of_thread in waited] or [None] * len(shares)
        return tuple(map(LoadThread, shares, waits))

    @property
    def window_unix_s(self) -> tuple[float, float] | None:
        """When measuring began and ended, in seconds since the epoch; `None` if it did not.

        What `left_out_unix_s` has may lie in between.
        """
        if self.hot_unix_s:
            return self.hot_unix_s[0][0], self.hot_unix_s[-1][1]
        if self.run_began_unix_s is None or not self.measured:
            return None
        begin = self.run_began_unix_s + sum(interval.seconds for interval in self.intervals if interval.warmup)
        return begin, begin + sum(interval.seconds for interval in self.intervals if not interval.warmup)

    @property
    def left_out_unix_s(self) -> tuple[tuple[float, float], ...]:
        """When each time began and ended that no figure has, in seconds since the epoch.

        These are profiled seconds; of an analysis, the times from a query's last hot answer to the next one's first.
        """
        if self.hot_unix_s:
            return tuple((before[1], after[0]) for before, after in pairwise(self.hot_unix_s))
        ends_s = (self.run_began_unix_s or 0.0) + np.cumsum([interval.seconds for interval in self.intervals])
        return tuple(
            (float(end_s) - interval.seconds, float(end_s))
            for end_s, interval in zip(ends_s, self.intervals, strict=True)
            if interval.profiled
        )

    @cached_property
    def whole_seconds(self) -> tuple[Interval, ...]:
        """The measured intervals without a last one that was cut short, which is no second."""
        return tuple(interval for interval in self.measured if interval.seconds > WHOLE_SECOND)

    @cached_property
    def stability(self) -> Stability:
        """How evenly it ran, over the measured whole seconds."""
        return stability(np.array([interval.completed / interval.seconds for interval in self.whole_seconds]))

    @cached_property
    def stalls(self) -> Stalls | None:
        """When nothing was completed in the measured time; `None` if the load client does not record it."""
        if self.gaps_ns is None:
            return None
        warmups = sum(interval.warmup for interval in self.intervals)
        edges_ns = _edges_ns(interval.seconds for interval in self.intervals)
        gaps_ns = self.gaps_ns
        if any(interval.profiled for interval in self.intervals):
            # On a clock that stands still in profiled seconds, a gap lasts as long as its measured part.
            kept_ns = _edges_ns(0.0 if interval.profiled else interval.seconds for interval in self.intervals)
            ends_ns = np.interp(gaps_ns.cumsum(axis=1), edges_ns, kept_ns).round().astype(np.int64)
            gaps_ns, edges_ns = np.stack([ends_ns[:, 0], np.diff(ends_ns)[:, 0]], axis=1), np.unique(kept_ns)
        return stalls(gaps_ns, edges_ns[warmups:].tolist(), self.completed, self.service_time.percentile_ns(50))

    @cached_property
    def throughput_per_s(self) -> float | None:
        """Completed transactions over the measured seconds; `None` when nothing was measured."""
        return self.completed / self.seconds if self.seconds > 0 else None

    @property
    def steady_throughput_per_s(self) -> float | None:
        """The rate to compare trials by: the mean after the cut if there is a steady state, else the throughput."""
        return self.steady.mean_per_s if self.steady.steady else self.throughput_per_s

    @cached_property
    def offered(self) -> int | None:
        """Arrivals that were due in the measured seconds; `None` in a closed loop."""
        due = [interval.scheduled for interval in self.measured if interval.scheduled is not None]
        return sum(due) if due else None

    @cached_property
    def offered_per_s(self) -> float | None:
        """Arrivals due over the measured seconds; `None` in a closed loop, or when nothing was measured."""
        return None if self.offered is None or self.seconds <= 0 else self.offered / self.seconds

    @cached_property
    def behind(self) -> str | None:
        """The signs that the store did not follow the offered load; `None` if it did, and in a closed loop."""
        if not self.offered or self.seconds <= 0:
            return None
        left = np.cumsum(
            [0, *((interval.scheduled or 0) - interval.completed - interval.failed for interval in self.intervals)]
        )
        clients = max(interval.connected for interval in self.measured)
        service_s = (self.service_time.mean_ns or 0.0) / 1e9
        outstanding = left[sum(interval.warmup for interval in self.intervals) :]
        return behind(Offered(outstanding, self.offered, self.completed, self.seconds, clients, service_s))

    @property
    def followed(self) -> bool | None:
        """Return whether what an open loop offered was done as it came; `None` in a closed loop."""
        return None if self.offered is None else self.behind is None


def _edges_ns(seconds: Iterable[float]) -> np.ndarray:
    """Return when each interval begins and at last the end, in ns from the start of the run."""
    return np.asarray((np.cumsum([0.0, *seconds]) * 1e9).round().astype(np.int64))


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one process while a trial was measured.

    Attributes:
        cores: CPU seconds per second, user and system, all threads; `None` when it was not seen for half of the time.
        resident_bytes: the most that was observed.
        private_bytes: the most that was observed of memory that is not shared; `None` in runs of earlier versions.
    """

    process: str
    cores: float | None
    resident_bytes: int
    private_bytes: int | None = None


@dataclass(frozen=True)
class Trial:
    """One planned trial and what is known of it.

    Attributes:
        state: `complete`, `failed`, `interrupted`, or `not reached`.
        about: `trial.json` as it was read, or empty when there is none; `facts` has it typed.
        warnings: what a reader must know before using its figures, each a sentence.
        client_limited: the signs that the load client limited the store, or `None` if it did not.
        folder: where it was recorded.
        judged: what was concluded of it when it ended (`verdict.json`), or `None` if that is not there.
        confirmation: the trial that was run again with less of what had limited it (`confirmation.json`), or `None`.
    """

    name: str
    state: str
    reason: str | None
    about: JsonObject
    recorded: Recorded
    usage: tuple[Usage, ...]
    warnings: tuple[str, ...]
    client_limited: str | None = None
    folder: Path | None = None
    judged: Conclusions | None = None
    confirmation: Confirmation | None = None
    observed: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def observations(self) -> Observations | None:
        """The observations while it ran, read when they are first asked for; `None` if there are none.

        Raises UserError if its file cannot be understood.
        """
        observations = read_observations(self.folder) if self.folder else None
        return observations and replace(observations, left_out=self.recorded.left_out_unix_s)

    @cached_property
    def facts(self) -> TrialFacts:
        """The facts in `trial.json`."""
        return TrialFacts.read(self.about)

    @property
    def embedded(self) -> bool:
        """Return whether its store runs in the load client's own threads."""
        return bool(self.facts.embedded)

    @property
    def system(self) -> str | None:
        """The system as the experiment names it, or `None` for a trial that was not reached."""
        return self.facts.system

    @property
    def server_names(self) -> tuple[str, ...]:
        """The names of the servers its store is made of, as observations have them."""
        return tuple(server.name for server in self.facts.known_servers)

    @property
    def label(self) -> str:
        """The name of its system in tables and plots."""
        return str(self.facts.label or self.facts.system or self.name)


@dataclass(frozen=True)
class ObservedTrial(Trial):
    """A trial whose observations were read already."""

    samples: Observations | None = None

    @property
    def observations(self) -> Observations | None:
        """The observations of it."""
        return self.samples


@dataclass(frozen=True, slots=True)
class Preparation:
    """One started (or attached) and loaded system: `rows` loaded in `load_seconds`, if that was recorded."""

    name: str
    about: JsonObject
    rows: int | None
    load_seconds: float | None

    @property
    def facts(self) -> PreparationFacts:
        """The facts in `preparation.json`."""
        return PreparationFacts.read(self.about)


@dataclass(frozen=True, slots=True)
class Run:
    """A run's folder, read.

    Attributes:
        about: `run.json`.
        environment: `environment.json`, or empty.
        trials: all planned ones, in order.
    """

    path: Path
    about: JsonObject
    environment: Environment
    trials: tuple[Trial, ...]
    preparations: Mapping[str, Preparation] = field(default_factory=dict)

    @property
    def facts(self) -> RunFacts:
        """The facts in `run.json`."""
        return RunFacts.read(self.about)

    @property
    def labels(self) -> tuple[str, ...]:
        """The systems that have a trial, as the experiment lists them; trials of repetitions are in a drawn order."""
        known = dict.fromkeys(trial.label for trial in self.trials if trial.system is not None)
        listed = [label for label in self.facts.systems if label in known]
        return tuple(dict.fromkeys([*listed, *known]))
