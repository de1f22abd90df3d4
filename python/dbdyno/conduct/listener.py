"""Who wants to know how a run goes on, while it does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbdyno.experiment.trials import Preparation, Trial


@dataclass(frozen=True)
class Outcome:
    """How one trial ended: what a line about it says.

    state: `complete`, `failed`, `interrupted`. transactions, seconds: completed and measured, the warm-up left out.
    errors: failed operations by kind, the warm-up's too.
    """

    trial: Trial
    state: str
    reason: str | None
    transactions: int
    seconds: float
    errors: dict[str, int]

    @property
    def right(self) -> bool:
        """True if the trial ran to its end and no operation failed."""
        return self.state == "complete" and not self.errors


class Listener:
    """Is told of a run's events as they happen; this one does nothing with them."""

    def run_begins(self, folder: Path, trials: int, trial_s: int) -> None:
        """`trials` are to be run, each of `trial_s` seconds with its warm-up, and recorded in `folder`."""

    def system_is_skipped(self, label: str, reason: str) -> None:
        """A system is left out."""

    def preparation_begins(self, preparation: Preparation) -> None:
        """A system is about to be started and loaded."""

    def trial_begins(self, trial: Trial) -> None:
        """A trial is about to run."""

    def record_came(self, record: dict[str, Any]) -> None:
        """The load client wrote a record (docs/contract.md)."""

    def trial_ended(self, outcome: Outcome) -> None:
        """A trial ended, in whatever way."""
