"""Adds pairs of trials to a run as long as a rule wants more of them."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from dbdyno.conduct.context import Context
from dbdyno.conduct.precise import Precise
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.trials import Cell, Preparation, cells_of, one_pass


class Rule(Protocol):
    """Says which comparisons need another pair."""

    def undecided(self, folder: Path, planned: Sequence[Preparation], pass_s: float) -> list[Cell]:
        """Return the cells that need another pair; none ends the run.

        folder: the run's. planned: what has been run, every system against the first. pass_s: how long a pass took.
        """
        ...

    def why(self, cells: int) -> str:
        """Return why so many cells need another pair, for a person."""
        ...


def passes_of(
    experiment: Experiment, systems: Sequence[SystemSpec], planned: Sequence[Preparation], names: Sequence[str]
) -> list[Preparation]:
    """Return the passes that an earlier session added behind what is `planned`.

    names: of all trials of the run in their order. A pass has each cell once, and begins with a cell of the one before.
    """
    run = list(planned)
    names, cells = names[sum(len(preparation.trials) for preparation in planned) :], cells_of(experiment)
    taken: set[Cell] = set()
    repeat = experiment.repeat + 1
    while names:
        for cell in cells:
            repeat_of_cell = repeat + (cell in taken)
            more = one_pass(experiment, systems, [cell], repeat_of_cell, run)
            if [trial.name for preparation in more for trial in preparation.trials] == list(names[: len(more)]):
                break
        else:
            return run[len(planned) :]
        taken = {cell} if cell in taken else taken | {cell}
        repeat, names = repeat_of_cell, names[len(more) :]
        run += more
    return run[len(planned) :]


def more_pairs(
    context: Context, systems: Sequence[SystemSpec], planned: Sequence[Preparation], rule: Rule | None
) -> Iterator[Preparation]:
    """Return the passes that follow what is planned: each has the cells that the rule wants once those before were run.

    rule: that of the command; without one `precise` decides, if the experiment has it.
    """
    # The planned trials run before the first of them is requested, and take the time of a pass.
    return _passes(context, systems, list(planned), rule, time.monotonic())


def _passes(
    context: Context, systems: Sequence[SystemSpec], run: list[Preparation], rule: Rule | None, began_s: float
) -> Iterator[Preparation]:
    if rule is None and context.experiment.precise is not None:
        rule = Precise(context.experiment, systems)
    pass_s: float | None = None
    while rule:
        now_s = time.monotonic()
        pass_s = (now_s - began_s) / (context.experiment.repeat if pass_s is None else 1)
        began_s, repeat = now_s, run[-1].repeat + 1
        cells = rule.undecided(context.folder.path, run, pass_s)
        more = one_pass(context.experiment, systems, cells, repeat, run)
        if not more:
            return
        context.journal.add_trials([trial.name for preparation in more for trial in preparation.trials])
        context.listener.trials_are_added(len(more), rule.why(len(cells)))
        run += more
        yield from more
