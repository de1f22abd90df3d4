"""Open loops at shares of capacity: the second phase, once the closed loops before it have measured that.

Latency at the highest throughput says how long a store's queue is, not how fast it is. So it is measured below that
(two-phase evaluation: Luo & Carey, "On Performance Stability in LSM-based Storage Systems", VLDB 2020).
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from dbdyno.conduct.context import Context
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.trial import Prepared, fail_trial, run_trial
from dbdyno.experiment.trials import Trial
from dbdyno.results.model import Trial as Recorded
from dbdyno.results.read import read_trial
from dbdyno.results.usable import compared_rate_per_s, unusable


@dataclass(frozen=True)
class Capacity:
    """The most transactions per second that closed loops reached, with how many clients, and in which trial."""

    per_s: float
    clients: int
    trial: str


def run_share(context: Context, prepared: Prepared, trial: Trial) -> Outcome:
    """Run a trial that is offered a share of its system's capacity; without a capacity it fails."""
    if trial.rate is None or (capacity := capacity_of(context.folder.path / "trials", trial)) is None:
        reason = "no usable closed loop came before it, so its capacity is unknown"
        return fail_trial(context, trial, prepared.name, reason)
    rate = trial.rate.of_capacity(capacity.per_s, capacity.trial)
    return run_trial(context, prepared, replace(trial, rate=rate, clients=capacity.clients))


def capacity_of(trials: Path, trial: Trial) -> Capacity | None:
    """Return the capacity that closed loops of a trial's system, workload and network delay measured; None without any.

    trials: the folder of what was recorded. The repetition of median throughput stands for its load: the
    highest of many would be the luckiest.
    """
    by_clients: dict[int, list[Recorded]] = defaultdict(list)
    for folder in sorted(trials.iterdir()):
        recorded = read_trial(folder)
        if _measures(recorded, trial) and not unusable(recorded):
            by_clients[recorded.facts.clients or 0].append(recorded)
    middle = [sorted(repeated, key=compared_rate_per_s)[(len(repeated) - 1) // 2] for repeated in by_clients.values()]
    best = max(middle, key=compared_rate_per_s, default=None)
    return Capacity(compared_rate_per_s(best), best.facts.clients or 0, best.name) if best else None


def _measures(recorded: Recorded, trial: Trial) -> bool:
    facts = recorded.facts
    measured = facts.label, facts.workload, facts.network_delay_us
    return not facts.rate and measured == (trial.system.label, str(trial.workload), trial.network_delay_us)
