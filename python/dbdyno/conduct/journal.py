"""`run.json` as a run goes on: written anew, whole, whenever there is more to say."""

import time
from collections.abc import Sequence
from dataclasses import replace

from dbdyno.results.facts import RunFacts
from dbdyno.results.json_types import LeftOutStated, LimitStated, SearchStated
from dbdyno.results.write import RunFolder


class Journal:
    """A run's account of itself (docs/run-folder.md, run.json)."""

    def __init__(self, folder: RunFolder, facts: RunFacts, keys: Sequence[str] = ()) -> None:
        """Write `facts` as the run's beginning; keys: those that a resumed run's file has already, in their order."""
        self._folder, self._keys = folder, keys
        self._write(facts)

    def add_trial(self, name: str, after: str) -> None:
        """Add a trial that nobody could plan, a step of a rate search, behind the trial `after`."""
        trials = self.trials
        if name in trials:
            return  # A resumed search takes its steps again, and runs those that are not complete.
        trials.insert(trials.index(after) + 1, name)
        self._write(replace(self._facts, trials=trials))

    def add_pass(self, names: list[str]) -> None:
        """Add the trials of a pass behind all others: pairs that a wanted precision or a decision takes."""
        passes = [*(self._facts.passes or ()), len(names)]
        self._write(replace(self._facts, trials=[*self.trials, *names], passes=passes))

    def leave_out(self, names: list[str], about: LeftOutStated) -> None:
        """Take trials out that are not going to be run, and say in `left_out` which and why."""
        trials = [name for name in self.trials if name not in names]
        left_out = list(self._facts.left_out or ())
        # A resumed run concludes again what it concluded before.
        if about not in left_out:
            left_out.append(about)
        self._write(replace(self._facts, trials=trials, left_out=left_out))

    def add_search(self, search: SearchStated) -> None:
        """Add how a rate search went."""
        self._write(replace(self._facts, find_rate=[*(self._facts.find_rate or ()), search]))

    @property
    def trials(self) -> list[str]:
        """The names of all trials, in the order they are run."""
        return list(self._facts.trials)

    def add_limits(self, limits: list[LimitStated]) -> None:
        """Add what became of the experiment's limits."""
        self._write(replace(self._facts, limits=limits))

    def end(self, state: str, reason: str | None) -> None:
        """Say how the run ended."""
        self._write(replace(self._facts, ended_unix_s=time.time(), state=state, reason=reason))

    def _write(self, facts: RunFacts) -> None:
        self._facts = facts
        self._folder.write_run(facts, self._keys)
