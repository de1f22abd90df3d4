"""A trial whose load comes from several hosts: cut, run, merged, and verified from this host."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from dbdyno.conduct.context import Context
from dbdyno.conduct.host_facts import Seen, describe_client, describe_host, describe_link
from dbdyno.conduct.lineup import Lineup
from dbdyno.conduct.load_client import Summary, Supervision, execute, why_it_failed
from dbdyno.conduct.plan import Plan, in_slice
from dbdyno.conduct.watchdog import GRACE_S
from dbdyno.contract import ChangesDocument, EndRecord, IntervalRecord, PhaseRecord, Record
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.hosts import Hosts, host_and_port, is_loopback
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.hosts.clocks import why_unsteady
from dbdyno.hosts.crew import Member
from dbdyno.hosts.elsewhere import Elsewhere, hosted, settle
from dbdyno.hosts.links import Links, measure_links
from dbdyno.hosts.network import Row
from dbdyno.hosts.observer import HostsObserver
from dbdyno.hosts.slices import slices
from dbdyno.hosts.trial import Part, Watch, run_parts
from dbdyno.observe.observer import Observer
from dbdyno.results.json_types import HostStated
from dbdyno.results.merge import merge_changes, merge_intervals
from dbdyno.results.merge_files import merge_files
from dbdyno.results.observations import HOSTS, LINES, close_observations
from dbdyno.results.write import Lines, write_object
from dbdyno.systems import SYSTEMS
from dbdyno.systems.base import System

_HARMLESS = {"connect": "tcp", "tls": "off"}


def refuse(experiment: Experiment, systems: Sequence[SystemSpec], lineup: Lineup) -> None:
    """Raise UserError if an experiment with hosts asks for what only one host can do."""
    if experiment.hosts is None:
        return
    asked = {
        "confirm_limit": experiment.confirm_limit,
        "data_dir": any(variant.data_dir for variant in experiment.variants),
    }
    for key, is_asked in asked.items():
        if is_asked:
            raise UserError(f"{key}: works on one host only; leave {key} out, or hosts")
    if experiment.profile and not experiment.hosts.server:
        raise UserError("profile: stacks are recorded on server hosts; name one (hosts.server), or leave profile out")
    if experiment.hosts.server:
        _refuse_actions(experiment)
    for spec in systems:
        if spec.client != "native":
            raise UserError(f"client: '{spec.client}' runs on one host only; leave it out, or hosts")
        _refuse_servers(spec, lineup.find(spec, experiment.workload[0]).private_servers(), experiment.hosts)
        _refuse_loopback(spec, experiment.hosts)


def _refuse_actions(experiment: Experiment) -> None:
    """Raise UserError if a program that is on this host only is to do something to a server on another."""
    actions = [event.action for event in experiment.events if event.action and not event.is_outage]
    if actions:
        raise UserError(f"events: '{actions[0]}' works on one host only; leave it out, or hosts.server")


def _refuse_servers(spec: SystemSpec, servers: Sequence[System], hosts: Hosts) -> None:
    """Raise UserError if the servers of a system cannot be started for clients on other hosts."""
    if _is_elsewhere(spec):
        return
    if not hosts.server:
        raise UserError(
            f"hosts: dbdyno starts '{spec.label}' for this host alone, so other hosts cannot reach it. "
            "Name a server host (hosts.server), or give the URL of a server, e.g. mysql://user@10.0.0.1/database"
        )
    if not servers:
        raise UserError(_only_here(spec))
    for server in servers:
        _refuse_on_server_host(spec, server)
    if len(servers) > len(hosts.server):
        raise UserError(
            f"hosts.server: '{spec.label}' has {len(servers)} servers, each with a host of its own: name "
            f"{len(servers)} server hosts; one host can have several workers"
        )


def _refuse_on_server_host(asked: SystemSpec, server: System) -> None:
    """Raise UserError if a server of the requested system cannot be started on another host."""
    spec = server.spec
    if not server.serves_hosts:
        raise UserError(_only_here(asked))
    unable = {
        "connect": "clients on other hosts reach no Unix socket",
        "tls": "its certificate is for one host",
        "config": "its file is read on this host only",
    }
    if placing := server.path_of(spec):
        raise UserError(f"hosts.server: '{spec.label}': {placing} is a build on this host; leave it out")
    for key, why in unable.items():
        if spec.settings.get(key, _HARMLESS.get(key)) != _HARMLESS.get(key):
            raise UserError(f"hosts.server: '{spec.label}': {why}: leave {key} out")


def _only_here(spec: SystemSpec) -> str:
    able = ", ".join(name for name, kind in SYSTEMS.items() if kind.serves_hosts)
    return (
        f"hosts.server: '{spec.label}' is started on this host only; {able}, and arrangements of these, can be started "
        "elsewhere"
    )


def _refuse_loopback(spec: SystemSpec, hosts: Hosts) -> None:
    """Raise UserError if a URL means another server on each host, unless all hosts are this one."""
    for part in spec.parts:
        _refuse_loopback(part, hosts)
    if spec.url is None or is_loopback(host_and_port(hosts.address)[0]):
        return
    if spec.url.socket:
        raise UserError(f"hosts: '{spec.label}': other hosts reach no Unix socket; give the server's address")
    if is_loopback(spec.url.host):
        raise UserError(
            f"hosts: '{spec.label}': {spec.url.host} is each host's own; give the address by which all hosts reach it"
        )


def _is_elsewhere(spec: SystemSpec) -> bool:
    """Return whether dbdyno starts nothing of a system, so that other hosts can reach all of it."""
    return spec.url is not None or bool(spec.parts and all(map(_is_elsewhere, spec.parts)))


@dataclass(frozen=True)
class Load:
    """A plan for all client hosts of a run.

    folder: for the records. system: the one under load. death: says how a server of it ended, or None.
    record_came: takes each second of all hosts together, and the begin and end of the run.
    """

    plan: Plan
    secrets: list[str]
    folder: Path
    system: System
    death: Callable[[], str | None]
    record_came: Callable[[Record], None]


def execute_on_hosts(
    context: Context, load: Load, observer: Observer | HostsObserver | None = None
) -> tuple[Summary, list[HostStated]]:
    """Have the run's hosts execute a plan, and record it as one load client would have.

    Returns what is known of its records, and what `trial.json` says of each host.
    Raises RunFailed if too few hosts are there.
    """
    crew, plan, folder = context.crew, load.plan, load.folder
    assert crew is not None, "the experiment has hosts"
    write_object(folder / "plan.json", plan.document())
    (folder / "load.log").touch()
    servers = [_ServerHost(server) for server in hosted(load.system)]
    with context.interrupts.noted():
        members = {member.name: member for member in crew.ready(lambda: context.interrupts.requested)}
        cuts = slices(plan.clients, list(members))
        if link_s := crew.link_seconds:
            servers_there = [server.member for server in servers]
            measure_links(context.links, list(members.values()), servers_there, crew.context, link_s)
        parts = [
            Part(members[cut.host], cut, in_slice(plan, cut.first, cut.count).document(), folder / HOSTS / cut.host)
            for cut in cuts
        ]
        live = _Live(parts, load.record_came, folder)
        patience_s = plan.warmup_s + plan.duration_s + 2 * plan.operation_timeout_s + GRACE_S
        seen = _Observed(folder)
        peers = {server.member.name: (server.member.host, server.member.port) for server in servers}
        watch = Watch(
            load.death,
            lambda: context.interrupts.requested,
            live.take,
            patience_s,
            seen.take if observer else None,
            peers,
        )
        with observer.watching(None, False) if observer else nullcontext():
            ended = run_parts(parts, load.secrets, f"{plan.run_id}-{folder.name}", crew.context, watch)
        live.close()
        seen.close()
    crew.lost |= {part.name for part in parts if part.lost}
    summary = Summary(given_up=ended.given_up)
    if not summary.given_up:
        summary = _merge(context.supervision(load.death), plan, load.secrets, folder, parts)
    if why_it_failed(summary, folder):
        settle(load.system)
    described = [
        describe_client(part, ended.start_unix_s, seen.of(part.name, live, peers), context.links) for part in parts
    ]
    return summary, [*described, *(server.end(context.links) for server in servers)]


class _ServerHost:
    """The host of a server during a trial: its clock before and after."""

    def __init__(self, system: Elsewhere) -> None:
        """Compare clocks; raises RunFailed if the host is not there."""
        self._system = system
        self._before = system.compare_clocks()

    @property
    def member(self) -> Member:
        """The host."""
        return self._system.member

    def end(self, links: Links) -> HostStated:
        """Return what `trial.json` says of it; raises RunFailed if its clock was set meanwhile."""
        problem, member = self._system.death(), self.member
        after = None if problem else self._system.compare_clocks()
        if after and (reason := why_unsteady(self._before, after)):
            raise RunFailed(f"host {member.name}: {reason}")
        host, link = describe_host(member, "server", self._before, after), describe_link(links.of_server(member.name))
        return {**host, "servers": [self._system.server_name], "link": link, "problem": problem}


class _Live:
    """Hands on each second once all hosts told of it, and keeps what each told: of a lost host that is all there is.

    load_threads: how many each has, as far as it told. measured: the transactions that each completed after the
    warm-up, and in how many seconds.
    """

    def __init__(self, parts: Sequence[Part], record_came: Callable[[Record], None], folder: Path) -> None:
        """Take the parts of the trial.

        record_came: takes the seconds, when a host's run begins, and when that of the last one ends.
        """
        self._parts = {part.name: part for part in parts}
        self._record_came, self._folder = record_came, folder
        self._ended: set[str] = set()
        self._seconds: dict[int, list[IntervalRecord]] = {}
        self._files: dict[str, Lines] = {}
        self.load_threads: dict[str, int] = {}
        self.measured: dict[str, tuple[int, float]] = {}

    def take(self, host: str, record: Record) -> None:
        """Take what a host told of one of its records."""
        if host not in self._files:
            (self._folder / HOSTS / host).mkdir(parents=True, exist_ok=True)
            self._files[host] = Lines(self._folder / HOSTS / host / "live.jsonl")
        self._files[host].append_object(record)
        if record["record"] == "hello":
            self.load_threads[host] = record["threads"]
        if record["record"] == "phase" and record["phase"] == "run":
            self._take_phase(host, record)
        if record["record"] != "interval":
            return
        if not record["warmup"]:
            completed, seconds = self.measured.get(host, (0, 0.0))
            more = record["transactions"]["completed"]
            self.measured[host] = completed + more, seconds + record["seconds"]
        of_second = self._seconds.setdefault(record["second"], [])
        of_second.append(record)
        if len(of_second) == len(self._parts):
            self._record_came(merge_intervals(self._seconds.pop(record["second"])))

    def _take_phase(self, host: str, record: PhaseRecord) -> None:
        if record["state"] == "end":
            self._ended.add(host)
        if record["state"] != "end" or len(self._ended) == len(self._parts):
            in_our_time: PhaseRecord = {**record, "at_unix_s": record["at_unix_s"] - self._parts[host].offset_s}
            self._record_came(in_our_time)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


class _Observed:
    """Keeps what is observed of each client host in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Lines] = {}
        self._rows: dict[str, list[Row]] = {}

    def take(self, host: str, row: Row) -> None:
        """Take a sample."""
        if host not in self._files:
            (self._folder / HOSTS / host).mkdir(parents=True, exist_ok=True)
            self._files[host] = Lines(self._folder / HOSTS / host / LINES)
        self._files[host].append_object(row)
        self._rows.setdefault(host, []).append(row)

    def of(self, host: str, live: _Live, servers: Iterable[str]) -> Seen:
        """Return what was observed of a host, and what it told."""
        completed, seconds = live.measured.get(host, (0, 0.0))
        per_s = completed / seconds if seconds else None
        return Seen(self._rows.get(host, []), live.load_threads.get(host), per_s, list(servers))

    def close(self) -> None:
        """Close the files, each of which becomes a table."""
        for host, file in self._files.items():
            file.close()
            close_observations(self._folder / HOSTS / host)


def _merge(supervision: Supervision, plan: Plan, secrets: list[str], folder: Path, parts: Sequence[Part]) -> Summary:
    """Write the records of all hosts as those of one, with the checks of the store's content, and sum them up."""
    summary = Summary(exit_status=max(part.exit_status or 0 for part in parts))
    files = [part.folder / "records.jsonl" for part in parts]
    try:
        merged = list(merge_files(files, [part.offset_s for part in parts], folder))
    except ValueError as error:
        raise RunFailed(str(error)) from None
    _copy_logs(parts, folder)
    end = next((record for record in merged if record["record"] == "end"), None)
    changes = next((record for record in merged if record["record"] == "changes"), None)
    merged = [record for record in merged if record["record"] not in ("changes", "end")]
    if end and end["status"] in ("complete", "interrupted") and len(parts) > 1:
        if changes is None:
            raise RunFailed("a load client did not record what it changed, so nothing can be verified")
        checks, failure = _verify(supervision, plan, secrets, folder, merge_changes([changes]))
        merged += checks
        end = failure or end
    lines = Lines(folder / "records.jsonl")
    for record in [*merged, *([end] if end else [])]:
        lines.append_object(record)
        summary.add(record)
    lines.close()
    return summary


def _copy_logs(parts: Sequence[Part], folder: Path) -> None:
    """Put what the load clients logged into one file, each line with its host."""
    with (folder / "load.log").open("a") as log:
        for part in parts:
            for line in (part.folder / "load.log").read_text(errors="replace").splitlines():
                log.write(f"{part.name}: {line}\n")


def _verify(
    supervision: Supervision, plan: Plan, secrets: list[str], folder: Path, changes: ChangesDocument
) -> tuple[list[Record], EndRecord | None]:
    """Check the store's content from this host; returns the records of that, and an end if it failed."""
    checks: list[Record] = []

    def record_came(record: Record) -> None:
        if record["record"] in ("check", "phase"):
            checks.append(record)

    verifying = folder / "verify"
    verifying.mkdir()
    summary = execute(replace(plan, phases=("verify",), changes=changes), secrets, verifying, supervision, record_came)
    if reason := why_it_failed(summary, verifying):
        return checks, {"record": "end", "status": "failed", "reason": reason}
    return checks, None
