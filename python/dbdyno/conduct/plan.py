"""The plan a load client is given (docs/contract.md), from an experiment, a system and a number of clients."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dbdyno.experiment.clients import NATIVE
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.own_workload import DECLARED
from dbdyno.experiment.trials import Trial
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.experiment.workloads import WORKLOADS
from dbdyno.systems.base import System

Document = dict[str, Any]

CONTRACT = 1
PREPARE, MEASURE, CLEAN_UP, LIST = ("prepare", "load"), ("run", "verify"), ("cleanup",), ("list",)
OWN_DATABASE = "dbdyno_sysbench"
"""One of that name is made and removed by the load client that is sysbench (docs/contract.md)."""
CEILING_SECONDS = 1
"""How long the load client is measured alone: long enough to tell 70 % from 80 %, short enough to pay for each cell."""
CLEANING_TIMEOUT_S = 60


@dataclass(frozen=True)
class PlannedWorkload:
    """A workload as a load client knows it: `options` without those that dbdyno carries out itself."""

    name: str
    rows: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> Document:
        """Return it as the plan has it."""
        return {"name": self.name, "rows": self.rows, "options": dict(self.options)}


@dataclass(frozen=True)
class Arrivals:
    """The open loop: `kind` is `constant` or `poisson`; segments: as `Rate.segments` has them."""

    kind: str
    segments: list[Document]


@dataclass(frozen=True)
class Plan:
    """What one load client executes; every field is a key of docs/contract.md, with what it means if it is left out.

    clients: how many the trial has. part: the first of those that this load client runs, and how many; None: all.
    store: by its kind, with no password in it. start_at_unix_s: in the clock of the load client's host.
    changes: what the load clients that ran the trial changed together, if this one only verifies it.
    library, engine, acknowledged, changes: are no keys of the plan if they are None.
    """

    phases: tuple[str, ...]
    store: Document
    workload: PlannedWorkload | None
    run_id: str
    clients: int = 1
    seed: int = 1
    warmup_s: int = 0
    duration_s: int = 1
    operation_timeout_s: int = CLEANING_TIMEOUT_S
    threads: int | None = None
    cpus: list[int] | None = None
    verify_reads: bool = True
    arrivals: Arrivals | None = None
    pipeline: int = 1
    network_delay_us: int = 0
    library: str | None = None
    engine: str | None = None
    acknowledged: str | None = None
    part: tuple[int, int] | None = None
    start_at_unix_s: float | None = None
    changes: Document | None = None

    def document(self) -> Document:
        """Return the plan as JSON has it."""
        optional: Document = {"library": self.library, "engine": self.engine, "acknowledged": self.acknowledged}
        optional["changes"] = self.changes
        first, count = self.part or (0, self.clients)
        return {key: value for key, value in optional.items() if value is not None} | {
            "contract": CONTRACT,
            "phases": list(self.phases),
            "store": self.store,
            "workload": self.workload and self.workload.document(),
            "seed": self.seed,
            "clients": {"first": first, "count": count, "of": self.clients},
            "start_at_unix_s": self.start_at_unix_s,
            "warmup_s": self.warmup_s,
            "duration_s": self.duration_s,
            "operation_timeout_s": self.operation_timeout_s,
            "threads": self.threads,
            "cpus": self.cpus,
            "verify_reads": self.verify_reads,
            "arrivals": self.arrivals and {"kind": self.arrivals.kind, "segments": self.arrivals.segments},
            "pipeline": self.pipeline,
            "network_delay_us": self.network_delay_us,
            "run_id": self.run_id,
        }


def make_plan(
    experiment: Experiment, run_id: str, phases: tuple[str, ...], store: Document, workload: WorkloadSpec, clients: int
) -> Plan:
    """Return the plan for `phases` on one host: a closed loop without pipelining, if it runs anything."""
    return Plan(
        phases,
        store,
        plan_workload(workload, experiment.rows),
        run_id,
        clients,
        experiment.seed,
        warmup_s=experiment.warmup_seconds,
        duration_s=experiment.seconds,
        operation_timeout_s=experiment.operation_timeout_seconds,
        cpus=experiment.cpus.client,
        library=workload.program,
    )


def plan_workload(workload: WorkloadSpec, rows: int) -> PlannedWorkload:
    """Return the plan's `workload`: the name the load client knows, and the options that are its affair."""
    definition = workload.definition
    options: Document = {key: value for key, value in workload.options.items() if key not in definition.conducted}
    if definition.declaration:
        return PlannedWorkload(DECLARED, rows, {"declaration": definition.declaration} | options)
    if definition.tables_of:
        known = WORKLOADS[definition.tables_of].options
        return PlannedWorkload(
            definition.tables_of, rows, {key: value for key, value in options.items() if key in known}
        )
    return PlannedWorkload(definition.name, rows, options)


def store_of(system: System, workload: WorkloadSpec, secrets: list[str]) -> Document:
    """Return the plan's `store`; passwords go to `secrets`.

    On a server that is somebody else's another program's tables, which have no marker, go into a database of their own.
    """
    own = {"database": OWN_DATABASE} if workload.program and system.spec.attached else {}
    return system.store_plan(secrets) | own


def make_trial_plan(experiment: Experiment, run_id: str, store: Document, trial: Trial) -> Plan:
    """Return the plan that measures one trial and verifies what the store then holds."""
    plan = make_plan(experiment, run_id, MEASURE, store, trial.workload, trial.clients)
    arrivals = None
    if trial.rate:
        arrivals = Arrivals(experiment.arrivals or "constant", trial.rate.segments(experiment.warmup_seconds))
    return replace(
        plan,
        arrivals=arrivals,
        pipeline=trial.pipeline,
        network_delay_us=trial.network_delay_us,
        library=None if trial.client == NATIVE else trial.client,
    )


def in_slice(trial_plan: Plan, first: int, count: int) -> Plan:
    """Return the plan by which a load client runs some of a trial's clients; if it runs all, it also verifies."""
    is_all = count == trial_plan.clients
    return replace(trial_plan, phases=trial_plan.phases if is_all else ("run",), part=(first, count))


def make_ceiling_plan(trial_plan: Plan, store: Document) -> Plan:
    """Return the plan of the same load for a second, as fast as it goes, on null servers at `store`."""
    return replace(
        trial_plan,
        phases=("run",),
        store=store,
        warmup_s=0,
        duration_s=CEILING_SECONDS,
        arrivals=None,
        network_delay_us=0,
    )


def make_cleaning_plan(store: Document, run_id: str, program: str | None = None, dry_run: bool = False) -> Plan:
    """Return the plan that removes from a store every leftover of dbdyno's own load client, or of another `program`.

    dry_run: it names them and removes nothing.
    """
    return Plan(LIST if dry_run else CLEAN_UP, store, None, run_id, library=program)
