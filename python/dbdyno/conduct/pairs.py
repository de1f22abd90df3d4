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

    def undecided(self, folder: Path, planned: Sequence[Preparation], pair_s: float) -> list[Cell]:
        """Return the cells that need another pair; none ends the run.

        folder: the run's. planned: what has been run, every system against the first. pair_s: how long the trials of a
        cell took in the last pass.
        """
        ...

    def why(self, cells: int) -> str:
        """Return why so many cells need another pair, for a person."""
        ...


def passes_of(
    experiment: Experiment,
    systems: Sequence[SystemSpec],
    planned: Sequence[Preparation],
    names: Sequence[str],
    passes: Sequence[int],
) -> list[Preparation]:
    """Return the passes that an earlier session added behind what is `planned`.

    names: of all trials of the run in their order. passes: the number of trials of each pass.
    """
    run, cells = list(planned), cells_of(experiment)
    left = list(names[sum(len(preparation.trials) for preparation in planned) :])
    for repeat, length in enumerate(passes, experiment.repeat + 1):
        of_pass = left[:length]
        while of_pass:
            for cell in cells:
                more = one_pass(experiment, systems, [cell], repeat, run)
                if _names(more) == of_pass[: len(more)]:
                    break
            else:
                return run[len(planned) :]
            of_pass = of_pass[len(more) :]
            run += more
        left = left[length:]
    return run[len(planned) :]


def _names(preparations: Sequence[Preparation]) -> list[str]:
    return [trial.name for preparation in preparations for trial in preparation.trials]


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
    pairs = context.experiment.repeat * len(cells_of(context.experiment))
    while rule:
        now_s = time.monotonic()
        pair_s = (now_s - began_s) / pairs
        began_s, repeat = now_s, run[-1].repeat + 1
        cells = rule.undecided(context.folder.path, run, pair_s)
        pairs = len(cells)
        more = one_pass(context.experiment, systems, cells, repeat, run)
        if not more:
            return
        context.journal.add_pass(_names(more))
        context.listener.trials_are_added(len(more), rule.why(len(cells)))
        run += more
        yield from more
