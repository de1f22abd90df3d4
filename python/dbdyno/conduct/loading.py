"""Has the load client make and fill tables, and remove what it made on somebody else's server."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from dbdyno.conduct.context import Context
from dbdyno.conduct.load_client import Summary, execute, why_it_failed
from dbdyno.conduct.plan import CLEAN_UP, PREPARE, TRAIN, make_plan, store_of
from dbdyno.conduct.trial import take_library
from dbdyno.errors import RunFailed
from dbdyno.experiment.trials import Preparation
from dbdyno.hosts.elsewhere import settle
from dbdyno.results.facts import SystemFacts
from dbdyno.results.json_types import LoadedStated, ServerStated
from dbdyno.systems.base import System

MAX_LOADING_CLIENTS = 8
"""More wait for each other in the server."""


@dataclass(frozen=True)
class Loaded:
    """The facts that loading adds to those of a system that was started; None: nothing new.

    servers: an embedded store with what its library says. table: loaded in bulk.
    """

    servers: list[ServerStated] | None = None
    table: LoadedStated | None = None

    def stated_with(self, facts: SystemFacts) -> SystemFacts:
        """Return the facts of a system now that it is loaded."""
        servers = facts.stated["servers"] if self.servers is None else self.servers
        rows = self.table["rows"] if self.table else None
        return SystemFacts({**facts.stated, "servers": servers}, rows, self.table)


def loading_clients() -> int:
    """Return how many connections load side by side: one for each processor of this host, up to a few."""
    return min(os.cpu_count() or 1, MAX_LOADING_CLIENTS)


def load_rows(context: Context, preparation: Preparation, system: System, folder: Path, clients: int) -> Loaded:
    """Make and fill the tables with so many clients; returns an embedded store as its library describes it.

    Raises RunFailed if they cannot be loaded, KeyboardInterrupt if the run was interrupted.
    """
    secrets: list[str] = []
    store = store_of(system, preparation.workload, secrets)
    plan = make_plan(context.experiment, context.folder.name, PREPARE, store, preparation.workload, clients)
    summary = execute(plan, secrets, folder, context.supervision(system.death), context.listener.record_came)
    if context.interrupts.requested:
        raise KeyboardInterrupt
    if reason := _why_not_loaded(summary, system, folder):
        raise RunFailed(f"{preparation.system.label} could not be loaded: {reason}")
    return Loaded(take_library(system, summary, folder))


def train(context: Context, preparation: Preparation, system: System, folder: Path) -> None:
    """Run the load for `train_seconds`, with the most clients of any trial, and record it in `folder`.

    Raises RunFailed if the load fails, KeyboardInterrupt if the run was interrupted.
    """
    experiment, secrets = context.experiment, list[str]()
    store = store_of(system, preparation.workload, secrets)
    clients = max(experiment.clients)
    plan = make_plan(experiment, context.folder.name, TRAIN, store, preparation.workload, clients)
    plan = replace(plan, warmup_s=0, duration_s=experiment.train_seconds)
    folder.mkdir()
    summary = execute(plan, secrets, folder, context.supervision(system.death), lambda _: None)
    if context.interrupts.requested:
        raise KeyboardInterrupt
    if reason := _why_not_loaded(summary, system, folder):
        raise RunFailed(f"{preparation.system.label}: the load before the restart failed: {reason}")


def _why_not_loaded(summary: Summary, system: System, folder: Path) -> str | None:
    """Return why a load failed, a dead server first; None if it did not."""
    reason = why_it_failed(summary, folder)
    if reason:
        settle(system)
    return system.death() or reason


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
