"""What every step of a run needs at hand."""

from dataclasses import dataclass

from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.listener import Listener
from dbdyno.experiment.model import Experiment
from dbdyno.results.write import RunFolder
from dbdyno.systems.guard import Guard


@dataclass(frozen=True)
class Context:
    """One run going on."""

    experiment: Experiment
    folder: RunFolder
    guard: Guard
    interrupts: Interrupts
    listener: Listener
