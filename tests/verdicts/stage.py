"""The stage on which a trial runs, and what causes can reach of it: the server, the client, and when they begin."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

import psutil

from dbdyno.conduct.listener import Listener
from dbdyno.systems.base import System
from dbdyno.systems.running.guard import Guard

SERVERS = ("mariadbd", "redis-server", "postgres", "memcached", "java")


class CannotInject(Exception):
    """This host cannot do what a cause does; says why."""


@dataclass
class Stage:
    """Everything that is there before a run begins.

    guard: ends what the stage has started, however dbdyno ends. stack: undoes the causes after the run.
    trial: undoes those that last as long as the trial: a server whose disk is slow would take long to stop.
    server: the one that is attached to, with its URL; None for a private one. server_cpus: those of the variant.
    at_begin: what is done when the trial begins, so that loading goes undisturbed; each is given the servers' pids.
    under_load: what is done after its first second, when all clients have connected.
    """

    guard: Guard
    stack: ExitStack
    trial: ExitStack
    server_cpus: tuple[int, ...] | None = None
    server: System | None = None
    url: str = ""
    at_begin: list[Callable[[list[int]], None]] = field(default_factory=list)
    under_load: list[Callable[[], None]] = field(default_factory=list)


Cause = Callable[[Stage], None]
"""Does something to what is on a stage, now or when the trial begins; the stage's stack undoes it."""


class AtTheTrial(Listener):
    """Does what the causes of a stage do at the trial's begin, and undoes at its end what lasts no longer."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def trial_begins(self, trial):
        for begin in self._stage.at_begin:
            begin(servers())

    def record_came(self, record):
        if record["record"] == "interval":
            while self._stage.under_load:
                self._stage.under_load.pop()()
        # The load is over; verifying it need not wait.
        if record["record"] == "total":
            self._stage.trial.close()

    def trial_ended(self, outcome):
        self._stage.trial.close()


def servers() -> list[int]:
    """Return the servers that this process has started."""
    return [child.pid for child in psutil.Process().children() if _name_of(child) in SERVERS]


def _name_of(process: psutil.Process) -> str:
    """Return a process's name; none if it has ended meanwhile."""
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""
