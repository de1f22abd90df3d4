"""The listeners to a run's events, while it goes on."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dbdyno.contract import Record
from dbdyno.experiment.trials import Preparation, Trial
from dbdyno.results.json_types import StepStated
from dbdyno.stats.stability import Stability
from dbdyno.stats.stalls import Stalls


@dataclass(frozen=True)
class Outcome:
    """How one trial ended: what a line about it says.

    state: `complete`, `failed`, `interrupted`. transactions, seconds: completed and measured, the warm-up left out.
    errors: failed operations by kind, the warm-up's too. stability: of the whole measured seconds, or None if the
    trial has no seconds of its own. stalls: of the measured time, or None if no gaps were recorded.
    build_replaced: its server's build was replaced by another one.
    """

    trial: Trial
    state: str
    reason: str | None
    transactions: int
    seconds: float
    errors: dict[str, int]
    stability: Stability | None = None
    stalls: Stalls | None = None
    build_replaced: bool = False

    @property
    def right(self) -> bool:
        """True if the trial ran to its end and no operation failed."""
        return self.state == "complete" and not self.errors


class Listener:
    """Receives a run's events as they happen; this one does nothing with them."""

    def run_begins(self, folder: Path, trials: int, trial_s: int) -> None:
        """`trials` are to be run, each of `trial_s` seconds with its warm-up, and recorded in `folder`."""

    def trials_are_added(self, trials: int, why: str) -> None:
        """As many more trials are to be run, and why: some comparisons are not known as exactly as wanted."""

    def steps_are_left_out(self, trials: int, sentence: str) -> None:
        """So many trials of a sweep are not run; which, and why."""

    def system_is_skipped(self, label: str, reason: str) -> None:
        """A system is left out."""

    def said(self, what: str) -> None:
        """Something is to be known of what is loaded."""

    def owner_is_warned(self, label: str, sentence: str) -> None:
        """The owner of an attached server risks something by what is about to be loaded."""

    def preparation_begins(self, preparation: Preparation) -> None:
        """A system is about to be started and loaded."""

    def trial_begins(self, trial: Trial) -> None:
        """A trial is about to run."""

    def not_seen(self, band: str, reason: str) -> None:
        """A band of observations, a column of it, or requested stacks cannot be observed in this run."""

    def record_came(self, record: Record) -> None:
        """The load client wrote a record (docs/contract.md)."""

    def limit_confirmed(self, sentence: str) -> None:
        """A trial was run again with less of what limited it; what is said of its limit now."""

    def search_begins(self, first: Trial, limit: str) -> None:
        """The highest rate that holds `limit` is about to be searched for, beginning with the closed loop `first`."""

    def step_ended(self, step: StepStated) -> None:
        """A step of a rate search ended."""

    def search_ended(self, sentence: str) -> None:
        """A rate search ended; what it found."""

    def trial_ended(self, outcome: Outcome) -> None:
        """A trial ended, in whatever way."""


_EVENTS = [name for name in vars(Listener) if not name.startswith("_")]


class Listeners(Listener):
    """Tells several listeners of every event, in their order."""

    def __init__(self, *listeners: Listener) -> None:
        self._listeners = listeners
        for event in _EVENTS:
            setattr(self, event, partial(self._tell, event))

    def _tell(self, event: str, *what: object) -> None:
        for listener in self._listeners:
            getattr(listener, event)(*what)
