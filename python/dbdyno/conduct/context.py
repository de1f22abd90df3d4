"""The context that every step of a run needs."""

from collections.abc import Callable
from dataclasses import dataclass, field

from dbdyno.analytics.answers import Answer
from dbdyno.conduct.earlier import Earlier
from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.journal import Journal
from dbdyno.conduct.lineup import Lineup
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.load_client import Supervision
from dbdyno.conduct.states import States
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.hosts.crew import Crew
from dbdyno.hosts.links import Links
from dbdyno.results.write import RunFolder
from dbdyno.systems.running.guard import Guard


def data_of(experiment: Experiment, workload: WorkloadSpec) -> str:
    """Return what tells the data of a workload from others: over other rows a query has another answer."""
    return f"{workload}, {experiment.rows} rows, {sorted(workload.options.items())}"


@dataclass(frozen=True)
class Ceiling:
    """The throughput of the load client alone, in transactions per second, or None and why it is not known.

    folder: the name of its folder. again: it was measured a second time.
    """

    per_s: float | None
    note: str | None = None
    folder: str = ""
    again: bool = False


@dataclass(frozen=True)
class Context:
    """One run going on.

    ceilings: what was measured of the load client alone, by what decides it. said: the reported gaps of observation.
    states: the loaded data that later repetitions start from. answers: who answered each analytic query first, and
    what, by its data (`data_of`) and name. crew: the hosts that issue the load, if this one does
    not; links: what was measured of theirs. earlier: what earlier sessions of a resumed run completed.
    """

    experiment: Experiment
    folder: RunFolder
    guard: Guard
    interrupts: Interrupts
    listener: Listener
    journal: Journal
    lineup: Lineup
    ceilings: dict[str, Ceiling] = field(default_factory=dict)
    states: States = field(default_factory=States)
    answers: dict[tuple[str, str], tuple[str, Answer]] = field(default_factory=dict)
    said: set[tuple[str, str]] = field(default_factory=set)
    crew: Crew | None = None
    links: Links = field(default_factory=Links)
    earlier: Earlier = field(default_factory=Earlier)

    def supervision(self, death: Callable[[], str | None] | None = None) -> Supervision:
        """Return what ends a load client early; death: says how a server ended that it needs."""
        return Supervision(self.guard, self.interrupts, death)
