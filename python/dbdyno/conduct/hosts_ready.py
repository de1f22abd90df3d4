"""Checks that the hosts of a run have what it takes, once they have joined and before anything is started there."""

from collections.abc import Sequence

from dbdyno.conduct.resolve import OTHER_DESCRIPTORS, Resolved
from dbdyno.conduct.room import check_room_of
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.hosts.crew import SERVER, Crew, Member
from dbdyno.hosts.elsewhere import described
from dbdyno.hosts.limits import MORE_PORTS
from dbdyno.hosts.slices import slices
from dbdyno.observe.room import FreeRoom
from dbdyno.systems.base import System

CLIENT_BYTES = 32 << 10
"""Memory for each client: the load client took 12 KB for each of 2,000; the kernel's socket takes some beside."""


def check_hosts(experiment: Experiment, resolved: Resolved, crew: Crew, members: Sequence[Member]) -> None:
    """Put the systems' servers on the server hosts, if there are any; raises UserError for what a host lacks."""
    _check_clients(experiment, resolved, [member for member in members if member.role != SERVER])
    servers = [member for member in members if member.role == SERVER]
    for number, member in enumerate(servers):
        _check_open_files(member, max(experiment.clients), "connections")
        _check_server(experiment, resolved, crew, member, number)
    resolved.lineup.assign(crew, [member.name for member in servers])


def _check_clients(experiment: Experiment, resolved: Resolved, members: Sequence[Member]) -> None:
    """Raise UserError if a host cannot have its share of the most clients."""
    connections_each = max(max(1, len(spec.parts)) for spec in resolved.systems)
    by_name = {member.name: member for member in members}
    for cut in slices(max(experiment.clients), list(by_name)):
        member = by_name[cut.host]
        _check_open_files(member, cut.count * connections_each, "clients")
        if cut.count > member.ports:
            raise UserError(
                f"clients: {member.name} gets {cut.count:,} clients and has {member.ports:,} ports for them: run "
                f"`{MORE_PORTS}` there as root, give its worker several addresses of that host (`dbdyno worker "
                "--source-address ADDRESS`), or name more client hosts"
            )
        if (needed_bytes := cut.count * CLIENT_BYTES) > member.memory_bytes:
            raise UserError(
                f"clients: {member.name} gets {cut.count:,} clients, which may take {needed_bytes / 1e6:,.0f} MB, and "
                f"has {member.memory_bytes / 1e6:,.0f} MB of free memory: name more client hosts, or give fewer clients"
            )


def _check_open_files(member: Member, count: int, what: str) -> None:
    needed = count + OTHER_DESCRIPTORS
    if member.open_files is not None and needed > member.open_files:
        raise UserError(
            f"clients: {member.name} needs {needed:,} open files for {count:,} {what} and may have "
            f"{member.open_files:,}: run `ulimit -Hn {needed}` there as root before `dbdyno worker`, or give fewer "
            "clients"
        )


def _check_server(experiment: Experiment, resolved: Resolved, crew: Crew, member: Member, number: int) -> None:
    """Raise UserError if a host cannot start the server of this number of each system, or has no room for its rows."""
    systems = [spec for spec in resolved.systems if len(_servers(experiment, resolved, spec)) > number]
    about = described(crew, member, [(spec, number) for spec in systems], experiment.memory_limit_bytes)
    for label, reason in about["missing"].items():
        raise UserError(f"{label}: on {member.name}, {reason}")
    usable = about["cpus"]
    for cpu in experiment.cpus.server or ():
        if cpu not in usable:
            raise UserError(
                f"cpus.server: dbdyno may not use CPU {cpu} on {member.name}; it may use {', '.join(map(str, usable))}"
            )
    for spec in systems:
        for workload in experiment.of(spec).workload:
            server = resolved.lineup.find(spec, workload).private_servers()[number]
            check_room_of(experiment.of(spec), spec, workload, server, FreeRoom(**about["room"]), member.name)


def _servers(experiment: Experiment, resolved: Resolved, spec: SystemSpec) -> list[System]:
    return resolved.lineup.find(spec, experiment.of(spec).workload[0]).private_servers()
