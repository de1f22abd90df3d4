"""The plan a load client is given (docs/contract.md), from an experiment, a system and a number of clients."""

from typing import Any

from dbdyno.experiment.clients import NATIVE
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.own_workload import DECLARED
from dbdyno.experiment.trials import Trial
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.experiment.workloads import WORKLOADS
from dbdyno.systems.base import System

CONTRACT = 1
PREPARE, MEASURE, CLEAN_UP = ("prepare", "load"), ("run", "verify"), ("cleanup",)
OWN_DATABASE = "dbdyno_sysbench"
"""One of that name is made and removed by the load client that is sysbench (docs/contract.md)."""
CEILING_SECONDS = 1
"""How long the load client is measured alone: long enough to tell 70 % from 80 %, short enough to pay for each cell."""


def make_plan(
    experiment: Experiment,
    run_id: str,
    phases: tuple[str, ...],
    store: dict[str, Any],
    workload: WorkloadSpec,
    clients: int,
) -> dict[str, Any]:
    """Return the plan for `phases` on one host: a closed loop without pipelining, where it runs anything."""
    driven = {"library": workload.program} if workload.program else {}
    return driven | {
        "contract": CONTRACT,
        "phases": list(phases),
        "store": store,
        "workload": _describe_workload(workload, experiment.rows),
        "seed": experiment.seed,
        "clients": {"first": 0, "count": clients, "of": clients},
        "start_at_unix_s": None,
        "warmup_s": experiment.warmup_seconds,
        "duration_s": experiment.seconds,
        "operation_timeout_s": experiment.operation_timeout_seconds,
        "threads": None,
        "cpus": experiment.cpus.client,
        "verify_reads": True,
        "arrivals": None,
        "pipeline": 1,
        "network_delay_us": 0,
        "run_id": run_id,
    }


def _describe_workload(workload: WorkloadSpec, rows: int) -> dict[str, Any]:
    """Return the plan's `workload`: the name the load client knows, and the options that are its affair."""
    definition = workload.definition
    name: str = definition.name
    options: dict[str, Any] = {key: value for key, value in workload.options.items() if key not in definition.conducted}
    if definition.declaration:
        name, options = DECLARED, {"declaration": definition.declaration} | options
    elif definition.tables_of:
        name = definition.tables_of
        options = {key: value for key, value in options.items() if key in WORKLOADS[name].options}
    return {"name": name, "rows": rows, "options": options}


def store_of(system: System, workload: WorkloadSpec, secrets: list[str]) -> dict[str, Any]:
    """Return the plan's `store`; passwords go to `secrets`.

    On a server that is somebody else's another program's tables, which have no marker, go into a database of their own.
    """
    own = {"database": OWN_DATABASE} if workload.program and system.spec.attached else {}
    return system.store_plan(secrets) | own


def make_trial_plan(experiment: Experiment, run_id: str, store: dict[str, Any], trial: Trial) -> dict[str, Any]:
    """Return the plan that measures one trial and verifies what the store then holds."""
    plan = make_plan(experiment, run_id, MEASURE, store, trial.workload, trial.clients)
    if trial.rate:
        segments = trial.rate.segments(experiment.warmup_seconds)
        plan["arrivals"] = {"kind": experiment.arrivals or "constant", "segments": segments}
    if trial.system.client != NATIVE:
        plan["library"] = trial.system.client
    return plan | {"pipeline": trial.pipeline, "network_delay_us": trial.network_delay_us}


def make_ceiling_plan(trial_plan: dict[str, Any], store: dict[str, Any]) -> dict[str, Any]:
    """Return the plan of the same load for a second, as fast as it goes, on null servers at `store`."""
    times = {"warmup_s": 0, "duration_s": CEILING_SECONDS}
    return trial_plan | times | {"phases": ["run"], "store": store, "arrivals": None, "network_delay_us": 0}


def make_cleaning_plan(store: dict[str, Any], run_id: str, program: str | None = None) -> dict[str, Any]:
    """Return the plan that removes from a store every leftover of dbdyno's own load client, or of another `program`."""
    driven = {"library": program} if program else {}
    return driven | {
        "contract": CONTRACT,
        "phases": list(CLEAN_UP),
        "store": store,
        "workload": None,
        "seed": 1,
        "clients": {"first": 0, "count": 1, "of": 1},
        "start_at_unix_s": None,
        "warmup_s": 0,
        "duration_s": 1,
        "operation_timeout_s": 60,
        "threads": None,
        "cpus": None,
        "verify_reads": True,
        "arrivals": None,
        "pipeline": 1,
        "network_delay_us": 0,
        "run_id": run_id,
    }
