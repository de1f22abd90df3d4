"""The load of a trial, closed or open loop, and which of the three times describe it (docs/statistics.md, section 1.1).

Service times and response times are never mixed. If a run has an open loop, response times are shown, and its closed
loops, such as the first step of a rate search, have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.report.core.times import TimedDocument, TimeName, Times
    from dbdyno.report.core.trial_documents import LoadKey, RatedDocument, TrialDocument
    from dbdyno.results.json_types import RateStated

LOAD_KEYS: tuple[LoadKey, ...] = ("workload", "rows", "clients", "pipeline", "network_delay_us")
"""Keys that two trials, or a trial and a comparison's cell, must share, beside the rate."""

_NO_TIMES: Times = dict.fromkeys(("mean", "p50", "p95", "p98", "p99", "p999", "max"))


@dataclass(frozen=True, slots=True, order=True)
class Load:
    """One load of a run, which a reader may choose. `words`: the rate's, empty for a closed loop."""

    clients: int
    per_s: float
    words: str

    def label(self, several_clients: bool) -> str:
        """Return its name: the clients, in an open loop the rate, or both if the clients differ too."""
        if not self.words:
            return str(self.clients)
        return f"{self.words}, {self.clients} clients" if several_clients else self.words


def load_of(trial: RatedDocument) -> Load:
    """Return the load of a trial."""
    rate: RateStated = trial.get("rate") or {}
    rates = [rate.get("per_s"), *rate.get("ramp", ()), *rate.get("steps", ())]
    return Load(trial["clients"] or 0, max((per_s for per_s in rates if per_s), default=0.0), rate.get("words", ""))


def rate_per_s(trial: TrialDocument) -> float:
    """Return a trial's throughput; 0 if nothing was measured."""
    return trial["throughput_per_s"] or 0.0


def share_of(trial: TrialDocument) -> float | None:
    """Return the share of capacity that a trial offered, 0 to 1; `None` for any other load."""
    share: float | None = (trial.get("rate") or {}).get("share")
    return share


def loads(trials: Iterable[TrialDocument]) -> list[Load]:
    """Return the loads of a run, rising."""
    return sorted({load_of(trial) for trial in trials})


def is_open(trials: Iterable[TrialDocument]) -> bool:
    """Return whether any of the trials is an open loop."""
    return any(trial.get("rate") for trial in trials)


def time_name(trials: Iterable[TrialDocument]) -> TimeName:
    """Return the time to show for `trials`: `response_time_us` if any is an open loop, else `service_time_us`."""
    return "response_time_us" if is_open(trials) else "service_time_us"


def times_us(counted: TimedDocument, name: TimeName) -> Times:
    """Return the statistics of one time of the transaction, or of an operation; each is `None` if there are none."""
    return counted.get(name) or _NO_TIMES


def time_label(trials: Sequence[TrialDocument]) -> str:
    """Return the kind of latency shown for `trials`: `response time, open loop, 20,000/s`, or `service time, closed
    loop, N = 16`, N being the clients."""
    if not is_open(trials):
        counts = sorted({load_of(trial).clients for trial in trials})
        several = ", ".join(map(str, counts)) if len(counts) <= 3 else f"{counts[0]} to {counts[-1]}"
        return "service time, closed loop" + (f", N = {several}" if counts else "")
    rates = dict.fromkeys(words for load in loads(trials) if (words := load.words))
    return "response time, open loop, " + (", ".join(rates) if len(rates) <= 3 else f"{len(rates)} rates")


def at(trial: RatedDocument) -> str:
    """Return the load of a figure: `at 16 clients`, in an open loop also the offered rate."""
    offered = f", offered {words}" if (words := load_of(trial).words) else ""
    # The load is a share of a capacity that could not be measured.
    if not trial["clients"]:
        return f"at no load{offered}"
    return f"at {trial['clients']} client{'' if trial['clients'] == 1 else 's'}{offered}"
