"""Whether an experiment can be run on this host, decided before anything is measured."""

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass

from dbdyno.conduct.clients import driven, missing_library
from dbdyno.conduct.kinds import kind_of
from dbdyno.conduct.room import check_room
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec, format_system
from dbdyno.experiment.workload_spec import missing_operations
from dbdyno.experiment.workloads import GET, WORDS, WORKLOADS
from dbdyno.systems import SYSTEMS, build, missing, sized
from dbdyno.systems.base import Launch, System
from dbdyno.systems.running.guard import Guard

EMBEDDED_CLIENTS_MAX = 512
"""An embedded store takes a thread for each client (docs/contract.md)."""

PIPELINING_SYSTEMS = ("postgresql", "redis", "valkey", "memcached", "cassandra", "handlersocket")
"""Those whose stores send several requests before they read the answers (docs/contract.md, The plan)."""
OTHER_DESCRIPTORS = 64
"""File descriptors of a load client beside its connections."""


@dataclass(frozen=True)
class Resolved:
    """The systems that will be run, and those left out, each with the reason."""

    systems: list[SystemSpec]
    skipped: list[tuple[SystemSpec, str]]


def resolve(experiment: Experiment) -> Resolved:
    """Return what can be run; raises UserError if something cannot, unless it is only missing and may be skipped."""
    _check_cpus(experiment)
    for workload in experiment.workload:
        kind_of(workload).refuse(experiment, workload)
    systems, skipped = [], []
    for spec in driven(experiment):
        system = build(spec)
        _check_operations(experiment, spec, system)
        for workload in experiment.workload:
            sized(spec, workload.data_bytes(experiment.rows))
            kind_of(workload).refuse_system(workload, system)
        _check_pipeline(experiment, spec, system)
        _check_limits(experiment, spec, system)
        reason = missing(spec) or missing_library(spec) or _missing_program(experiment, system)
        if reason and experiment.if_missing == "error":
            raise UserError(f"{spec.label}: {reason}")
        if reason:
            skipped.append((spec, reason))
        else:
            systems.append(spec)
    if not systems:
        raise UserError("none of the systems is there: " + "; ".join(reason for _, reason in skipped))
    check_room(experiment, systems)
    return Resolved(systems, skipped)


def _missing_program(experiment: Experiment, system: System) -> str | None:
    """Return which program a workload needs that is not installed, or None."""
    reasons = (kind_of(workload).missing(workload, system) for workload in experiment.workload)
    return next(filter(None, reasons), None)


def _check_cpus(experiment: Experiment) -> None:
    usable = os.sched_getaffinity(0)
    for side in ("client", "server"):
        for cpu in getattr(experiment.cpus, side) or ():
            if cpu not in usable:
                there = ", ".join(map(str, sorted(usable)))
                raise UserError(f"cpus.{side}: there is no processor {cpu} to use here; there are {there}")


def _check_operations(experiment: Experiment, spec: SystemSpec, system: System) -> None:
    """Raise UserError if a workload needs what the system cannot do, naming both and who can."""
    for workload in experiment.workload:
        if lacking := missing_operations(workload, system.operations):
            able = [other.name for other in SYSTEMS.values() if not missing_operations(workload, other.operations)]
            # It is then the settings that take it away.
            whose = format_system(spec) if spec.name in able else spec.label
            raise UserError(
                f"the workload '{workload}' needs to {' and to '.join(WORDS[one] for one in lacking)}, which "
                f"'{whose}' cannot do; {', '.join(able)} can"
            )


def _check_pipeline(experiment: Experiment, spec: SystemSpec, system: System) -> None:
    """Raise UserError if requests are to be sent several at once and workload or system cannot have that."""
    if max(experiment.pipeline) == 1:
        return
    able = [workload.name for workload in WORKLOADS.values() if workload.operations == (GET,)]
    for workload in experiment.workload:
        if workload.name not in able:
            raise UserError(
                f"pipeline: a transaction of '{workload}' is not a single get; {', '.join(able)} can be pipelined"
            )
    if system.name not in PIPELINING_SYSTEMS:
        raise UserError(f"pipeline: '{spec.label}' takes one request at a time; {', '.join(PIPELINING_SYSTEMS)} can")
    if spec.settings.get("layout") == "hash":
        raise UserError(f"pipeline: '{spec.label}' keeps rows as hashes; layout=string can be pipelined")


def _check_limits(experiment: Experiment, spec: SystemSpec, system: System) -> None:
    if max(experiment.network_delay_us) and system.embedded:
        raise UserError(
            f"network_delay_us: '{spec.label}' runs inside the load client, with no network between; leave one out"
        )
    if experiment.restart and not system.restorable:
        able = ", ".join(_restarted(experiment))
        raise UserError(f"restart: '{spec.label}' keeps nothing that dbdyno could start it from again; {able} can")
    if experiment.memory_limit and (system.embedded or spec.attached):
        why = "runs inside the load client" if system.embedded else "was not started by dbdyno"
        raise UserError(
            f"memory_limit: '{spec.label}' {why}, so its memory cannot be limited; leave one of the two out"
        )
    if system.embedded and max(experiment.clients) > EMBEDDED_CLIENTS_MAX:
        raise UserError(
            f"clients: '{spec.label}' is embedded and takes a thread for each client, at most {EMBEDDED_CLIENTS_MAX}"
        )
    if not system.embedded:
        _check_descriptors(max(experiment.clients), max(1, len(spec.parts)))


def _restarted(experiment: Experiment) -> Iterator[str]:
    """Yield the systems that can be started again on what they kept, and can do what is asked of them."""
    for name, other in SYSTEMS.items():
        lacking = (missing_operations(workload, other.operations) for workload in experiment.workload)
        if other.restorable is not System.restorable and not any(lacking):
            yield name


def _check_descriptors(clients: int, connections_each: int) -> None:
    """Raise UserError if the load client, which raises its soft limit itself, could not have as many connections."""
    needed = clients * connections_each + OTHER_DESCRIPTORS
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed != resource.RLIM_INFINITY and needed > allowed:
        raise UserError(
            f"clients: {clients:,} clients need {needed:,} file descriptors and {allowed:,} are allowed here: raise "
            f"that with `ulimit -Hn {needed}` as root (or 'nofile' in /etc/security/limits.conf), or give fewer clients"
        )


def try_out(experiment: Experiment, systems: list[SystemSpec], guard: Guard) -> None:
    """Start and stop every configuration that could be mistyped, so that it is known now and not after an hour.

    Raises UserError, quoting the server, for a setting it does not take or a URL where nobody answers.
    """
    launch_with = (max(experiment.clients), experiment.rows, None, experiment.memory_limit_bytes)
    for spec in systems:
        if not (spec.attached or spec.settings or any(part.settings for part in spec.parts) or experiment.memory_limit):
            continue
        system = build(sized(spec, experiment.workload[0].data_bytes(experiment.rows)))
        with guard.scratch() as logs:
            try:
                system.start(Launch(guard, logs, *launch_with))
            finally:
                system.stop()
