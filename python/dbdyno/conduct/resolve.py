"""Decide whether an experiment can be run on this host, before anything is measured."""

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from dbdyno.conduct import on_hosts
from dbdyno.conduct.client_build import client_build
from dbdyno.conduct.clients import driven, missing_library
from dbdyno.conduct.kinds import kind_of
from dbdyno.conduct.lineup import Lineup, build_lineup
from dbdyno.conduct.room import check_room
from dbdyno.conduct.server_processes import refuse_other_processes
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec, format_system
from dbdyno.experiment.workload_spec import WorkloadSpec, missing_operations
from dbdyno.experiment.workloads import GET, WORDS, WORKLOADS
from dbdyno.hosts.limits import MORE_PORTS, own_limits
from dbdyno.systems import SYSTEMS, missing
from dbdyno.systems.base import Launch, System
from dbdyno.systems.running.guard import Guard

EMBEDDED_CLIENTS_MAX = 512
"""An embedded store takes a thread for each client (docs/contract.md)."""

OTHER_DESCRIPTORS = 64
"""File descriptors of a load client beside its connections."""


@dataclass(frozen=True)
class Resolved:
    """The systems that will be run, each built for each workload, and those left out, each with the reason."""

    systems: list[SystemSpec]
    skipped: list[tuple[SystemSpec, str]]
    lineup: Lineup


def resolve(experiment: Experiment) -> Resolved:
    """Return what can be run; raises UserError if something cannot, unless it is only missing and may be skipped."""
    elsewhere = experiment.hosts is not None and bool(experiment.hosts.server)
    for variant in experiment.variants:
        _check_cpus(variant)
        _check_data_dir(variant)
        for workload in variant.workload:
            kind_of(workload).refuse(variant, workload)
            _check_hosts(variant, workload)
    systems: list[SystemSpec] = []
    skipped: list[tuple[SystemSpec, str]] = []
    specs = driven(experiment)
    lineup = build_lineup(experiment, specs)
    for spec in specs:
        own = experiment.of(spec)
        built = [(workload, lineup.find(spec, workload)) for workload in own.workload]
        for workload, system in built:
            _check_operations(workload, system)
            kind_of(workload).refuse_system(workload, system)
            _check_pipeline(own, workload, system)
            _check_limits(own, system)
            _check_events(own, system)
            refuse_other_processes(system)
        programs = (kind_of(workload).missing(workload, system) for workload, system in built)
        actions = (_missing_action(experiment, system) for _, system in built)
        lacking = next(filter(None, chain(programs, actions)), None)
        # The server host says later what it lacks.
        reason = (None if elsewhere else missing(spec)) or missing_library(spec) or lacking
        if reason and experiment.if_missing == "error":
            raise UserError(f"{spec.label}: {reason}")
        if reason:
            skipped.append((spec, reason))
        else:
            client_build(spec.client)
            systems.append(spec)
    if not systems:
        raise UserError("none of the systems is installed: " + "; ".join(reason for _, reason in skipped))
    on_hosts.refuse(experiment, systems, lineup)
    if not elsewhere:
        check_room(experiment, systems, lineup)
    return Resolved(systems, skipped, lineup)


def _check_cpus(experiment: Experiment) -> None:
    usable = os.sched_getaffinity(0)
    # A server host says itself which CPUs it has; the client's are used here too, to load.
    elsewhere = experiment.hosts is not None and bool(experiment.hosts.server)
    for side in ("client",) if elsewhere else ("client", "server"):
        for cpu in getattr(experiment.cpus, side) or ():
            if cpu not in usable:
                there = ", ".join(map(str, sorted(usable)))
                raise UserError(f"cpus.{side}: dbdyno may not use CPU {cpu} here; it may use {there}")


def _check_hosts(experiment: Experiment, workload: WorkloadSpec) -> None:
    if experiment.hosts and not kind_of(workload).divides:
        raise UserError(f"hosts: the clients of '{workload.name}' run on one host only; leave hosts out")


def _check_data_dir(experiment: Experiment) -> None:
    if experiment.data_dir and not Path(experiment.data_dir).is_dir():
        raise UserError(f"data_dir: {experiment.data_dir} is not a directory here; make it, or name another")


class CannotDo(UserError):
    """A system cannot do an operation that a workload needs."""

    def __init__(self, message: str, workload: str, operation: str) -> None:
        super().__init__(message)
        self.workload = workload
        self.operation = operation


def _check_operations(workload: WorkloadSpec, system: System) -> None:
    """Raise CannotDo if a workload needs what the system cannot do, naming both and who can."""
    if lacking := missing_operations(workload, system.operations):
        able = [other.name for other in SYSTEMS.values() if not missing_operations(workload, other.operations)]
        # If other settings could do it, these are named too.
        spec = system.spec
        whose = format_system(spec) if spec.name in able else spec.label
        why = "".join(f" ({system.reasons[operation]})" for operation in lacking if operation in system.reasons)
        raise CannotDo(
            f"the workload '{workload}' needs to {' and to '.join(WORDS[operation] for operation in lacking)}, which "
            f"'{whose}' cannot do{why}; {', '.join(able)} can",
            workload.definition.name,
            lacking[0],
        )


def _check_pipeline(experiment: Experiment, workload: WorkloadSpec, system: System) -> None:
    """Raise UserError if requests are to be sent several at once and workload or system cannot have that."""
    if max(experiment.pipeline) == 1:
        return
    able = [definition.name for definition in WORKLOADS.values() if definition.operations == (GET,)]
    if workload.name not in able:
        raise UserError(
            f"pipeline: a transaction of '{workload}' is not a single get; {', '.join(able)} can be pipelined"
        )
    if reason := system.why_one_at_a_time():
        able = [other.name for other in SYSTEMS.values() if other.pipelines]
        raise UserError(f"pipeline: '{system.spec.label}' {reason}; {', '.join(able)} can be pipelined")


def _check_limits(experiment: Experiment, system: System) -> None:
    """Raise UserError if the experiment asks of a system what it cannot have, being embedded or somebody else's."""
    spec = system.spec
    if max(experiment.network_delay_us) and system.embedded:
        raise UserError(
            f"network_delay_us: '{spec.label}' runs inside the load client, without a network; leave one out"
        )
    if experiment.restart and not system.restorable:
        able = ", ".join(_restarted(experiment))
        raise UserError(f"restart: '{spec.label}' cannot start again from its data; {able} can")
    if experiment.memory_limit and (system.embedded or spec.attached):
        why = "runs inside the load client" if system.embedded else "was not started by dbdyno"
        raise UserError(
            f"memory_limit: '{spec.label}' {why}, so its memory cannot be limited; leave one of the two out"
        )
    if experiment.data_dir and spec.attached:
        raise UserError(f"data_dir: '{spec.label}' was not started by dbdyno and has its data; leave data_dir out")
    if "cpus.server" in spec.variant.given and (system.embedded or spec.attached):
        why = "runs inside the load client" if system.embedded else "was not started by dbdyno"
        raise UserError(f"cpus.server: '{spec.label}' {why} and is not pinned; leave the list out, or this system")
    if experiment.load_threads and system.embedded:
        raise UserError(f"load_threads: '{spec.label}' takes a thread for each client; leave load_threads out")
    if system.embedded and max(experiment.clients) > EMBEDDED_CLIENTS_MAX:
        raise UserError(
            f"clients: '{spec.label}' is embedded and takes a thread for each client, at most {EMBEDDED_CLIENTS_MAX}"
        )
    if not system.embedded and not experiment.hosts:
        _check_descriptors(max(experiment.clients), max(1, len(spec.parts)))
        _check_ports(spec, max(experiment.clients))


def _check_events(experiment: Experiment, system: System) -> None:
    """Raise UserError if an event is something that cannot be done to this system."""
    label = system.spec.label
    for event in experiment.events:
        if event.sql is not None and not system.speaks_sql:
            able = ", ".join(dict.fromkeys(other.name for other in SYSTEMS.values() if other.speaks_sql))
            raise UserError(f"{event.where}'{label}' takes no SQL; {able} do; or give a command")
        if event.action is None or event.action in system.actions:
            continue
        if system.spec.attached:
            raise UserError(
                f"{event.where}action = '{event.action}': dbdyno did not start '{label}', so it takes no action there; "
                "give sql or a command"
            )
        known = f"it has {', '.join(system.actions)}" if system.actions else "it has none"
        raise UserError(f"{event.where}'{label}' has no action '{event.action}'; {known}; or give a command")


def _missing_action(experiment: Experiment, system: System) -> str | None:
    """Return which program of an event is not installed, and how to get it; None if all are there."""
    reasons = (system.missing_for_action(event.action) for event in experiment.events if event.action)
    return next(filter(None, reasons), None)


def _restarted(experiment: Experiment) -> Iterator[str]:
    """Yield the systems that can be started again on what they kept, and can do what is asked of them."""
    for name, other in SYSTEMS.items():
        lacking = (missing_operations(workload, other.operations) for workload in experiment.workload)
        if other.can_keep and not any(lacking):
            yield name


def _check_descriptors(clients: int, connections_each: int) -> None:
    """Raise UserError if the load client, which raises its soft limit itself, could not have as many connections."""
    needed = clients * connections_each + OTHER_DESCRIPTORS
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed != resource.RLIM_INFINITY and needed > allowed:
        raise UserError(
            f"clients: {clients:,} clients need {needed:,} file descriptors, and {allowed:,} are allowed here. "
            f"Run `ulimit -Hn {needed}` as root (or set 'nofile' in /etc/security/limits.conf), or give fewer clients"
        )


def _check_ports(spec: SystemSpec, clients: int) -> None:
    """Raise UserError if the kernel has fewer ports for connections to one server than there are clients."""
    on_socket = spec.settings.get("connect") == "socket" or (spec.url is not None and spec.url.socket is not None)
    if not on_socket and clients > (ports := own_limits().ports):
        raise UserError(
            f"clients: {clients:,} clients need as many ports, and this host has {ports:,} for one server. "
            f"Run `{MORE_PORTS}` as root, or divide the clients among hosts"
        )


def try_out(experiment: Experiment, resolved: Resolved, guard: Guard) -> None:
    """Start and stop every configuration that could be mistyped, so that it is known now and not after an hour.

    Raises UserError, quoting the server, for a setting it does not take or a URL at which nobody answers, and if the
    server's version cannot do what a workload needs.
    """
    for spec in resolved.systems:
        own = experiment.of(spec)
        if not (spec.attached or spec.settings or any(part.settings for part in spec.parts) or own.memory_limit):
            continue
        system = resolved.lineup.find(spec, own.workload[0])
        with guard.scratch() as logs:
            try:
                timeout_s = own.operation_timeout_seconds
                launch_with = (max(own.clients), own.rows, None, own.memory_limit_bytes)
                system.start(Launch(guard, logs, *launch_with, answer_timeout_s=timeout_s, data_dir=own.data_directory))
                # A server that is attached to says only now which version it is.
                for workload in own.workload:
                    _check_operations(workload, system)
            finally:
                system.stop()
