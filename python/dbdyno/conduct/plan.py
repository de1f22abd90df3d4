"""The plan a load client is given (docs/contract.md), from an experiment, a system and a number of clients."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypedDict, cast

from dbdyno.conduct.load_program import LOAD_PROGRAM
from dbdyno.contract import (
    CONTRACT,
    ArrivalsDocument,
    CacheLibrary,
    ChangesDocument,
    Engine,
    GroupDocument,
    JsonObject,
    Library,
    Phase,
    PlanDocument,
    SegmentDocument,
    StoreDocument,
    ThinkTimeDocument,
    WorkloadDocument,
)
from dbdyno.experiment.clients import NATIVE, c_library_of, cache_library_of, libraries_among, library_of, program_of
from dbdyno.experiment.groups import Group, numbers_of
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.own_workload import DECLARED
from dbdyno.experiment.trials import Trial
from dbdyno.experiment.workload_spec import WorkloadSpec
from dbdyno.experiment.workloads import WORKLOADS
from dbdyno.systems.base import System

Phases = tuple[Phase, ...]

PREPARE: Phases = ("prepare", "load")
TRAIN: Phases = ("run",)
MEASURE: Phases = ("run", "verify")
CLEAN_UP: Phases = ("cleanup",)
LIST: Phases = ("list",)
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
    options: JsonObject = field(default_factory=dict)

    def document(self) -> WorkloadDocument:
        """Return it as the plan has it."""
        return {"name": self.name, "rows": self.rows, "options": dict(self.options)}


@dataclass(frozen=True)
class Arrivals:
    """The open loop: `kind` is `constant` or `poisson`; segments: as `Rate.segments` has them."""

    kind: Literal["constant", "poisson"]
    segments: list[SegmentDocument]

    def document(self) -> ArrivalsDocument:
        """Return it as the plan has it."""
        return {"kind": self.kind, "segments": self.segments}


@dataclass(frozen=True)
class Plan:
    """The work of one load client; every field is a key of docs/contract.md, with what it means if it is left out.

    clients: how many the trial has. part: the first of those that this load client runs, and how many; None: all.
    store: by its kind, with no password in it. start_at_unix_s: in the clock of the load client's host.
    changes: what the load clients that ran the trial changed together, if this one only verifies it.
    program: the path of the program that executes it, if that is the user's own; no key of the plan.
    library, cache_library, c_library, engine, acknowledged, think_time, changes: are no keys of the plan if they are
    None.
    transactions_per_connection, groups, query_plans: are no keys of the plan if they are 0, empty or false.
    """

    phases: Phases
    store: StoreDocument
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
    cache_library: str | None = None
    c_library: str | None = None
    program: str | None = None
    engine: Engine | None = None
    acknowledged: str | None = None
    think_time: ThinkTimeDocument | None = None
    transactions_per_connection: int = 0
    groups: tuple[GroupDocument, ...] = ()
    part: tuple[int, int] | None = None
    start_at_unix_s: float | None = None
    changes: ChangesDocument | None = None
    query_plans: bool = False

    @property
    def client(self) -> str:
        """The name of the load client in messages: the file of the user's own, else dbdyno's."""
        return Path(self.program).name if self.program else LOAD_PROGRAM

    def document(self) -> PlanDocument:
        """Return the plan as JSON has it."""
        first, count = self.part or (0, self.clients)
        document: PlanDocument = {
            "contract": CONTRACT,
            "phases": list(self.phases),
            "store": self.store,
            "workload": self.workload.document() if self.workload else None,
            "seed": self.seed,
            "clients": {"first": first, "count": count, "of": self.clients},
            "start_at_unix_s": self.start_at_unix_s,
            "warmup_s": self.warmup_s,
            "duration_s": self.duration_s,
            "operation_timeout_s": self.operation_timeout_s,
            "threads": self.threads,
            "cpus": self.cpus,
            "verify_reads": self.verify_reads,
            "arrivals": self.arrivals.document() if self.arrivals else None,
            "pipeline": self.pipeline,
            "network_delay_us": self.network_delay_us,
            "run_id": self.run_id,
        }
        self._add_libraries(document)
        if self.engine is not None:
            document["engine"] = self.engine
        if self.acknowledged is not None:
            document["acknowledged"] = self.acknowledged
        if self.think_time is not None:
            document["think_time"] = self.think_time
        if self.transactions_per_connection:
            document["transactions_per_connection"] = self.transactions_per_connection
        if self.groups:
            document["groups"] = self.groups
        if self.changes is not None:
            document["changes"] = self.changes
        if self.query_plans:
            document["query_plans"] = True
        return document

    def _add_libraries(self, document: PlanDocument) -> None:
        """Add the keys of the client libraries; the experiment has checked the names."""
        if self.library is not None:
            document["library"] = cast(Library, self.library)
        if self.cache_library is not None:
            document["cache_library"] = cast(CacheLibrary, self.cache_library)
        if self.c_library is not None:
            document["c_library"] = self.c_library


def make_plan(
    experiment: Experiment, run_id: str, phases: Phases, store: StoreDocument, workload: WorkloadSpec, clients: int
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
        threads=experiment.load_threads,
        cpus=experiment.cpus.client,
        library=workload.program,
    )


def plan_workload(workload: WorkloadSpec, rows: int) -> PlannedWorkload:
    """Return the plan's `workload`: the name the load client knows, and the options that are its affair."""
    definition = workload.definition
    options = {key: value for key, value in workload.options.items() if key not in definition.conducted}
    if definition.declaration:
        return PlannedWorkload(DECLARED, rows, {"declaration": definition.declaration} | options)
    if definition.tables_of:
        known = WORKLOADS[definition.tables_of].options
        return PlannedWorkload(
            definition.tables_of, rows, {key: value for key, value in options.items() if key in known}
        )
    return PlannedWorkload(definition.name, rows, options)


def store_of(system: System, workload: WorkloadSpec, secrets: list[str]) -> StoreDocument:
    """Return the plan's `store`; passwords go to `secrets`.

    On an attached server the tables of another program, which have no marker, go into a separate database.
    """
    own = {"database": OWN_DATABASE} if workload.program and system.spec.attached else {}
    return {**system.store_plan(secrets), **own}


def make_trial_plan(experiment: Experiment, run_id: str, store: StoreDocument, trial: Trial) -> Plan:
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
        query_plans=trial.client == NATIVE,
        **_driven_by(trial.system.client),
        **_pace(experiment, trial),
    )


class _Client(TypedDict, total=False):
    program: str
    library: str
    cache_library: str | None
    c_library: str | None


def _driven_by(client: str) -> _Client:
    """Return what a client is in a plan: the native one needs no key."""
    if program := program_of(client):
        return {"program": str(program)}
    if not libraries_among([client]):
        return {}
    cache, c_library = cache_library_of(client), c_library_of(client)
    return {
        "library": library_of(client).name,
        "cache_library": cache.name if cache else None,
        "c_library": str(c_library) if c_library else None,
    }


class _Pace(TypedDict, total=False):
    think_time: ThinkTimeDocument | None
    transactions_per_connection: int
    groups: tuple[GroupDocument, ...]


def _pace(experiment: Experiment, trial: Trial) -> _Pace:
    """Return when a trial's clients begin their transactions, and how long they keep a connection."""
    if experiment.groups:
        return {"groups": plan_groups(experiment, trial)}
    think_time = experiment.think_time.document() if experiment.think_time else None
    return {"think_time": think_time, "transactions_per_connection": experiment.transactions_per_connection or 0}


def plan_groups(experiment: Experiment, trial: Trial) -> tuple[GroupDocument, ...]:
    """Return the groups of clients of a trial."""
    pairs = zip(experiment.groups, numbers_of(experiment.groups, trial.clients), strict=True)
    return tuple(_plan_group(experiment, trial, group, number) for group, number in pairs)


def _plan_group(experiment: Experiment, trial: Trial, group: Group, number: int) -> GroupDocument:
    rate = group.rate_of(trial.workload.options)
    think_time = group.think_time or (None if rate else experiment.think_time)
    arrivals = Arrivals(group.arrivals or "constant", rate.segments(_warmup_s(experiment, group))) if rate else None
    options: dict[str, object] = {}
    if group.access:
        options["access"] = group.access.model_dump()
    if group.transactions:
        declared = (trial.workload.definition.declaration or {"transactions": ()})["transactions"]
        weights = {transaction["name"]: transaction["weight"] for transaction in declared}
        options["transactions"] = {name: weight or weights[name] for name, weight in group.transactions.items()}
    return {
        "name": group.name,
        "count": number,
        "options": options,
        "start_s": group.start_seconds,
        "arrivals": arrivals.document() if arrivals else None,
        "think_time": think_time.document() if think_time else None,
        "transactions_per_connection": group.transactions_per_connection or experiment.transactions_per_connection or 0,
    }


def _warmup_s(experiment: Experiment, group: Group) -> int:
    """Return how much of the warm-up is left when a group begins."""
    return max(0, experiment.warmup_seconds - group.start_seconds)


def in_slice(trial_plan: Plan, first: int, count: int) -> Plan:
    """Return the plan by which a load client runs some of a trial's clients; if it runs all, it also verifies."""
    is_all = count == trial_plan.clients
    return replace(trial_plan, phases=trial_plan.phases if is_all else ("run",), part=(first, count))


def make_ceiling_plan(trial_plan: Plan, store: StoreDocument) -> Plan:
    """Return the plan of the same load for a second, as fast as it goes, on null servers at `store`."""
    return replace(
        trial_plan,
        phases=("run",),
        store=store,
        warmup_s=0,
        duration_s=CEILING_SECONDS,
        arrivals=None,
        network_delay_us=0,
        think_time=None,
        query_plans=False,
    )


def make_cleaning_plan(store: StoreDocument, run_id: str, program: str | None = None, dry_run: bool = False) -> Plan:
    """Return the plan that removes from a store every leftover of dbdyno's own load client, or of another `program`.

    dry_run: it names them and removes nothing.
    """
    return Plan(LIST if dry_run else CLEAN_UP, store, None, run_id, library=program)
