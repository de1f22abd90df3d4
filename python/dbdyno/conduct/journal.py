"""`run.json` as a run goes on: written anew, whole, whenever there is more to say."""

import time
from typing import Any

from dbdyno.results.write import RunFolder


class Journal:
    """A run's account of itself (docs/run-folder.md, run.json)."""

    def __init__(self, folder: RunFolder, document: dict[str, Any]) -> None:
        """Write `document` as the run's beginning."""
        self._folder = folder
        self._document = document
        self._write()

    def add_trial(self, name: str, after: str) -> None:
        """Add a trial that nobody could plan, a step of a rate search, behind the trial `after`."""
        trials = self._document["trials"]
        if name in trials:
            return  # A resumed search takes its steps again, and runs those that are not complete.
        trials.insert(trials.index(after) + 1, name)
        self._write()

    def add_trials(self, names: list[str]) -> None:
        """Add trials behind all others: pairs that a wanted precision takes."""
        self._document["trials"] += names
        self._write()

    def leave_out(self, names: list[str], about: dict[str, Any]) -> None:
        """Take trials out that are not going to be run, and say in `left_out` which and why."""
        self._document["trials"] = [name for name in self._document["trials"] if name not in names]
        left_out = self._document.setdefault("left_out", [])
        # A resumed run concludes again what it concluded before.
        if about not in left_out:
            left_out.append(about)
        self._write()

    def add_search(self, search: dict[str, Any]) -> None:
        """Add how a rate search went."""
        self._document.setdefault("find_rate", []).append(search)
        self._write()

    @property
    def trials(self) -> list[str]:
        """The names of all trials, in the order they are run."""
        return list(self._document["trials"])

    def add_limits(self, limits: list[dict[str, Any]]) -> None:
        """Add what became of the experiment's limits."""
        self._document["limits"] = limits
        self._write()

    def end(self, state: str, reason: str | None) -> None:
        """Say how the run ended."""
        self._document |= {"ended_unix_s": time.time(), "state": state, "reason": reason}
        self._write()

    def _write(self) -> None:
        self._folder.write_run(self._document)
