"""A piece of evidence, and the test that separates it from noise (docs/statistics.md, section 3.8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from dbdyno.report.cells import Compared
from dbdyno.results.model import Trial
from dbdyno.results.usable import unusable
from dbdyno.stats.comparison import SIGNIFICANCE, holm_adjusted, paired_t
from dbdyno.verdict.judge import judged
from dbdyno.verdict.limits import HOST_CPU, SERVER_CPU, SERVER_THREAD

LEAST_SHARE = 0.05
"""Evidence that can explain a smaller share of the difference is not named."""
BY_THE_CLOCK = 0.25
"""A counter follows the clock, not the transactions, if its change per second is less than this share of its change per
transaction."""
QUEUED = "with the queue for it"
"""The note of time on full processors: whatever waits for them waits longer, too."""
CLIENT_PROCESS = "client"
"""The name of the load client's process; all others are a server's."""
_FULL = {
    SERVER_CPU: ("server_cpu",),
    SERVER_THREAD: ("server_cpu",),
    HOST_CPU: ("server_cpu", "client_cpu"),
}
"""Limits that are processors or threads, and the bands of the operations that these serve."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something that differs between the two sides of a cell.

    Attributes:
        kind: `plan`, `version`, `setting`, `function`, `operation`, `time` or `counter`.
        before, after: its value on the baseline's side and on the candidate's, for people.
        share: the largest share of the difference in a transaction's time that it can explain; 0 if it can explain
            nothing, `None` if unknown.
        note: a remark for the reader, or empty.
    """

    kind: str
    name: str
    before: str
    after: str
    share: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Pairs:
    """The usable pairs of trials of one compared cell: the baseline's and the candidate's, repetition by repetition."""

    compared: Compared
    trials: tuple[tuple[Trial, Trial], ...]

    @classmethod
    def of(cls, compared: Compared) -> Pairs:
        """Return the pairs of a cell, without the trials that the comparison left out."""
        sides = [
            {trial.facts.repeat or 1: trial for trial in trials if not unusable(trial)} for trials in compared.trials
        ]
        repeats = sorted(sides[0].keys() & sides[1].keys())
        return cls(compared, tuple((sides[0][repeat], sides[1][repeat]) for repeat in repeats))

    def side(self, which: int) -> tuple[Trial, ...]:
        """Return the trials of the baseline (0) or of the candidate (1)."""
        return tuple(pair[which] for pair in self.trials)

    @cached_property
    def log_time(self) -> float:
        """The logarithm of a transaction's time with the candidate over that with the baseline; above 0 it is
        slower."""
        return -log(self.compared.comparison.ratio) if self.compared.comparison else 0.0

    @cached_property
    def time_us(self) -> float:
        """How much longer a transaction takes with the candidate, in µs; 0 if nothing was measured."""
        times = [[time_us(trial) for trial in self.side(which)] for which in (0, 1)]
        return float(np.mean(times[1]) - np.mean(times[0])) if self.trials else 0.0

    def queue_factor(self, process: str) -> float:
        """Return how much longer a transaction takes for each µs that `process` computes longer for it.

        Behind full processors every operation in flight waits for those before it: the factor is the number in flight
        over the number that the processors serve. It is 1 if something else limits, or other processes.

        Args:
            process: `client`, or any name of a server.
        """
        embedded = all(trial.embedded for trial in self.side(0))
        is_client = process == CLIENT_PROCESS and not embedded
        return self.queue_factors.get("client_cpu" if is_client else "server_cpu", 1.0)

    @cached_property
    def queue_factors(self) -> dict[str, float]:
        """`queue_factor` by band of the time budget; only those that full processors serve are in it."""
        limits = {_usual_limit(self.side(which)) for which in (0, 1)}
        names = _FULL.get(limits.pop() or "", ()) if len(limits) == 1 else ()
        budgets = [judged(trial).time_budget for pair in self.trials for trial in pair]
        served = sum(budget.bands.get(name, 0.0) for budget in budgets if budget for name in names)
        in_flight = sum(budget.in_flight for budget in budgets if budget)
        return dict.fromkeys(names, max(1.0, in_flight / served)) if served else {}


Kind = Callable[[Pairs], Sequence[Evidence]]
"""Looks for one kind of evidence in the trials of a cell."""


def _usual_limit(trials: Sequence[Trial]) -> str | None:
    """Return what limited most of the trials, if anything did."""
    verdicts = [judged(trial).verdict for trial in trials]
    counted = Counter(verdict.limit if verdict else None for verdict in verdicts)
    return counted.most_common(1)[0][0] if counted else None


def time_us(trial: Trial) -> float:
    """Return the time that a transaction of a closed loop is in flight, in µs (Little's law)."""
    rate = trial.recorded.throughput_per_s
    return 1e6 * trial.facts.transactions_in_flight / rate if rate else 0.0


def beyond_noise(pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> list[str]:
    """Return the names of those quantities that differ between the sides by more than chance explains.

    Student's t of the paired differences, with Holm's correction for all names.

    Args:
        pairs: name to the values of the baseline and of the candidate, pair by pair; at least two pairs each.
    """
    p_values = [paired_t(*values) for values in pairs.values()]
    return [name for name, p in zip(pairs, holm_adjusted(p_values), strict=True) if p < SIGNIFICANCE]
