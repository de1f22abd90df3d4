"""Has the load client make and fill tables, and remove what it made on somebody else's server."""

import os
from pathlib import Path
from typing import Any

from dbdyno.conduct.context import Context
from dbdyno.conduct.load_client import execute, why_it_failed
from dbdyno.conduct.plan import CLEAN_UP, PREPARE, make_plan, store_of
from dbdyno.conduct.trial import take_library
from dbdyno.errors import RunFailed
from dbdyno.experiment.trials import Preparation
from dbdyno.systems.base import System

MAX_LOADING_CLIENTS = 8
"""More wait for each other in the server."""


def loading_clients() -> int:
    """Return how many connections load side by side: one for each processor of this host, up to a few."""
    return min(os.cpu_count() or 1, MAX_LOADING_CLIENTS)


def load_rows(context: Context, preparation: Preparation, system: System, folder: Path, clients: int) -> dict[str, Any]:
    """Make and fill the tables with so many clients; returns what `trial.json` says of the store's library.

    Raises RunFailed if they cannot be loaded, KeyboardInterrupt if the run was interrupted.
    """
    secrets: list[str] = []
    store = store_of(system, preparation.workload, secrets)
    plan = make_plan(context.experiment, context.folder.name, PREPARE, store, preparation.workload, clients)
    summary = execute(plan, secrets, folder, context.supervision(system.death), context.listener.record_came)
    if context.interrupts.requested:
        raise KeyboardInterrupt
    if reason := system.death() or why_it_failed(summary, folder):
        raise RunFailed(f"{preparation.system.label} could not be loaded: {reason}")
    return take_library(system, summary, folder)


def remove_rows(context: Context, preparation: Preparation, system: System, folder: Path) -> None:
    """Remove from an attached store what dbdyno made there; raises RunFailed if something is left."""
    secrets: list[str] = []
    store = store_of(system, preparation.workload, secrets)
    plan = make_plan(context.experiment, context.folder.name, CLEAN_UP, store, preparation.workload, 1)
    cleaning = folder / "cleanup"
    cleaning.mkdir()
    summary = execute(plan, secrets, cleaning, context.supervision(), context.listener.record_came)
    if reason := why_it_failed(summary, cleaning):
        raise RunFailed(
            f"{preparation.system.label}: what dbdyno made there could not be removed ({reason}); see `dbdyno clean`"
        )
