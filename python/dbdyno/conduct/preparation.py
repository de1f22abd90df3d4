"""One system started and loaded, its trials, and its end."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno.conduct.context import Context
from dbdyno.conduct.find_rate import find_rate
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.load_client import execute, why_it_failed
from dbdyno.conduct.plan import CLEAN_UP, PREPARE, make_plan
from dbdyno.conduct.trial import Prepared, fail_trial, run_trial
from dbdyno.errors import DbdynoError, RunFailed
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import bare_name
from dbdyno.experiment.trials import Preparation
from dbdyno.results.write import write_object
from dbdyno.systems import build
from dbdyno.systems.base import Launch, System

CONNECTIONS_PER_CLIENT_SPARE = 8
"""Connections beyond the clients': those of the loading and of dbdyno's own questions."""
LOADING_CLIENTS = 1


def run_preparation(context: Context, preparation: Preparation) -> Iterator[Outcome]:
    """Run all trials of one preparation, or the rate searches that begin with them, yielding the outcome of each.

    After a server died it is started and loaded anew for the trials that are left; where that fails, they fail.
    Raises RunFailed if what was made on an attached store could not be removed.
    """
    trials = list(preparation.trials)
    attempt = 0
    while trials and not context.interrupts.requested:
        attempt += 1
        name = preparation.name if attempt == 1 else f"{preparation.name}-again-{attempt - 1}"
        try:
            with prepared_system(context, preparation, name) as prepared:
                while trials and not context.interrupts.requested:
                    trial = trials.pop(0)
                    if context.experiment.find_rate:
                        yield from find_rate(context, prepared, trial)
                    else:
                        yield run_trial(context, prepared, trial)
                    if prepared.system.death():
                        break
        except DbdynoError as error:
            if not trials:
                raise
            for trial in trials:
                yield fail_trial(context, trial, name, str(error))
            return


@contextmanager
def prepared_system(context: Context, preparation: Preparation, name: str) -> Iterator[Prepared]:
    """Start and load a system; afterwards clean up what is somebody else's, and stop what is dbdyno's.

    Raises UserError or RunFailed if it cannot be started or loaded.
    """
    context.listener.preparation_begins(preparation)
    folder = context.folder.preparation(name)
    system = build(preparation.system)
    launch = make_launch(context, folder)
    began = time.time()
    document = {"preparation": name, "system": bare_name(preparation.system), "label": preparation.system.label}
    document |= {"workload": preparation.workload, "repeat": preparation.repeat, "started_unix_s": began}
    loaded = False
    try:
        system.start(launch)
        facts = describe_system(system, context.experiment)
        document |= {"start_seconds": round(time.time() - began, 3), **facts}
        write_object(folder / "preparation.json", document)
        loaded = True
        _load(context, preparation, system, folder)
        document |= {"load_seconds": round(time.time() - began - document["start_seconds"], 3)}
        document |= {"state": "complete", "reason": None}
        write_object(folder / "preparation.json", document)
        yield Prepared(system, name, folder, facts)
    except DbdynoError as error:
        write_object(folder / "preparation.json", document | {"state": "failed", "reason": str(error)})
        raise
    finally:
        try:
            if loaded and preparation.system.attached and not context.experiment.keep:
                _clean_up(context, preparation, system, folder)
        finally:
            system.stop()


def make_launch(context: Context, log_folder: Path) -> Launch:
    """Return what a system is started with, for the most clients any trial has."""
    experiment = context.experiment
    return Launch(
        context.guard,
        log_folder,
        max(experiment.clients) + CONNECTIONS_PER_CLIENT_SPARE,
        experiment.rows,
        tuple(experiment.cpus.server) if experiment.cpus.server else None,
        experiment.memory_limit_bytes,
    )


def describe_system(system: System, experiment: Experiment) -> dict[str, Any]:
    """Return what is in force and what it promises, as `trial.json` has it; only what dbdyno started is pinned."""
    durability = system.durability()
    started = bool(system.server_pids())
    return {
        "servers": system.servers(),
        "server_cpus": experiment.cpus.server if started else None,
        "memory_limit_bytes": experiment.memory_limit_bytes if started else None,
        "durability": {"class": durability.level, "reason": durability.reason},
    }


def _load(context: Context, preparation: Preparation, system: System, folder: Path) -> None:
    secrets: list[str] = []
    store = system.store_plan(secrets)
    plan = make_plan(context.experiment, context.folder.name, PREPARE, store, preparation.workload, LOADING_CLIENTS)
    summary = execute(plan, secrets, folder, context.guard, context.interrupts, context.listener.record_came)
    if context.interrupts.requested:
        raise KeyboardInterrupt
    if reason := system.death() or why_it_failed(summary, folder):
        raise RunFailed(f"{preparation.system.label} could not be loaded: {reason}")


def _clean_up(context: Context, preparation: Preparation, system: System, folder: Path) -> None:
    """Remove from an attached store what dbdyno made there."""
    secrets: list[str] = []
    store = system.store_plan(secrets)
    plan = make_plan(context.experiment, context.folder.name, CLEAN_UP, store, preparation.workload, 1)
    cleaning = folder / "cleanup"
    cleaning.mkdir()
    summary = execute(plan, secrets, cleaning, context.guard, context.interrupts, context.listener.record_came)
    if reason := why_it_failed(summary, cleaning):
        raise RunFailed(
            f"{preparation.system.label}: what dbdyno made there could not be removed ({reason}); see `dbdyno clean`"
        )
