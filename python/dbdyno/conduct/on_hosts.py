"""A trial whose load comes from several hosts: cut, run, merged, and verified from this host."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from dbdyno.conduct.context import Context
from dbdyno.conduct.lineup import Lineup
from dbdyno.conduct.load_client import Summary, execute, why_it_failed
from dbdyno.conduct.plan import Plan, in_slice
from dbdyno.conduct.watchdog import GRACE_S
from dbdyno.contract import ChangesDocument, ChangesRecord, EndRecord, IntervalRecord, Record, as_record
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.hosts import Hosts, host_and_port, is_loopback
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.hosts.clocks import Reading, drift_s, why_unsteady
from dbdyno.hosts.crew import Member
from dbdyno.hosts.elsewhere import Elsewhere, ElsewhereObserver
from dbdyno.hosts.network import Row, describe_network
from dbdyno.hosts.slices import slices
from dbdyno.hosts.trial import Part, Watch, run_parts
from dbdyno.observe.observer import Observer
from dbdyno.results.json_types import ClientHostStated, ClockStated, HostStated, KnownHostStated
from dbdyno.results.jsonfiles import read_lines
from dbdyno.results.merge import merge_changes, merge_intervals, merge_records
from dbdyno.results.observations import LINES, close_observations
from dbdyno.results.write import Lines, write_object
from dbdyno.systems import SYSTEMS
from dbdyno.systems.base import System

_HARMLESS = {"connect": "tcp", "tls": "off"}
FOLDER = "hosts"
"""The part of a trial's folder that has each host's records."""


def refuse(experiment: Experiment, systems: Sequence[SystemSpec], lineup: Lineup) -> None:
    """Raise UserError if an experiment with hosts asks for what only one host can do."""
    if experiment.hosts is None:
        return
    asked = {
        "profile": bool(experiment.profile),
        "confirm_limit": experiment.confirm_limit,
        "restart": any(variant.restart is not None for variant in experiment.variants),
        "data_dir": any(variant.data_dir for variant in experiment.variants),
    }
    for key, is_asked in asked.items():
        if is_asked:
            raise UserError(f"{key}: works on one host only; leave {key} out, or hosts")
    for spec in systems:
        if spec.client != "native":
            raise UserError(f"client: '{spec.client}' runs on one host only; leave it out, or hosts")
        if experiment.hosts.server and not spec.attached:
            _refuse_on_server_host(lineup.find(spec, experiment.workload[0]))
        elif not _is_elsewhere(spec):
            raise UserError(
                f"hosts: dbdyno starts '{spec.label}' for this host alone, so other hosts cannot reach it. "
                "Name a server host (hosts.server), or give the URL of a server, e.g. mysql://user@10.0.0.1/database"
            )
        _refuse_loopback(spec, experiment.hosts)


def _refuse_on_server_host(system: System) -> None:
    """Raise UserError if a system cannot be started on another host with its settings."""
    spec = system.spec
    if not system.serves_hosts:
        able = ", ".join(name for name, kind in SYSTEMS.items() if kind.serves_hosts)
        raise UserError(f"hosts.server: '{spec.label}' is started on this host only; {able} can be started elsewhere")
    unable = {
        "connect": "clients on other hosts reach no Unix socket",
        "tls": "its certificate is for one host",
        "config": "its file is read on this host only",
    }
    if placing := system.path_of(spec):
        raise UserError(f"hosts.server: '{spec.label}': {placing} is a build on this host; leave it out")
    for key, why in unable.items():
        if spec.settings.get(key, _HARMLESS.get(key)) != _HARMLESS.get(key):
            raise UserError(f"hosts.server: '{spec.label}': {why}: leave {key} out")


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


def execute_on_hosts(
    context: Context,
    plan: Plan,
    secrets: list[str],
    folder: Path,
    system: System,
    observer: Observer | ElsewhereObserver | None,
) -> tuple[Summary, list[HostStated]]:
    """Have the run's hosts execute a trial's plan, and record it in `folder` as one load client would have.

    Returns what is known of its records, and what `trial.json` says of each host.
    Raises RunFailed if too few hosts are there.
    """
    crew = context.crew
    assert crew is not None, "the experiment has hosts"
    write_object(folder / "plan.json", plan.document())
    (folder / "load.log").touch()
    server = _ServerHost(system) if isinstance(system, Elsewhere) else None
    with context.interrupts.noted():
        members = {member.name: member for member in crew.ready(lambda: context.interrupts.requested)}
        cuts = slices(plan.clients, list(members))
        parts = [
            Part(members[cut.host], cut, in_slice(plan, cut.first, cut.count).document(), folder / FOLDER / cut.host)
            for cut in cuts
        ]
        live = _Live(len(parts), context.listener.record_came, folder)
        patience_s = plan.warmup_s + plan.duration_s + 2 * plan.operation_timeout_s + GRACE_S
        seen = _Seen(folder)
        peer = (server.member.host, server.member.port) if server else None
        watch = Watch(
            system.death,
            lambda: context.interrupts.requested,
            live.take,
            patience_s,
            seen.take if observer else None,
            peer,
        )
        with observer.watching(None, False) if observer else nullcontext():
            ended = run_parts(parts, secrets, f"{plan.run_id}-{folder.name}", crew.context, watch)
        live.close()
        seen.close()
    crew.lost |= {part.name for part in parts if part.lost}
    summary = Summary(given_up=ended.given_up)
    if not summary.given_up:
        summary = _merge(context, plan, secrets, folder, parts)
    described = [_describe(part, ended.start_unix_s, seen.rows.get(part.name, [])) for part in parts]
    return summary, [*described, *([server.end()] if server else [])]


class _ServerHost:
    """The host of the server during a trial: its clock before and after."""

    def __init__(self, system: Elsewhere) -> None:
        """Compare clocks; raises RunFailed if the host is not there."""
        self._system = system
        self._before = system.compare_clocks()

    @property
    def member(self) -> Member:
        """The host."""
        return self._system.member

    def end(self) -> HostStated:
        """Return what `trial.json` says of it; raises RunFailed if its clock was set meanwhile."""
        problem, member = self._system.death(), self.member
        after = None if problem else self._system.compare_clocks()
        if after and (reason := why_unsteady(self._before, after)):
            raise RunFailed(f"host {member.name}: {reason}")
        return {**_describe_host(member, "server", self._before, after), "problem": problem}


class _Live:
    """Hands on each second once all hosts told of it, and keeps what each told: of a lost host that is all there is."""

    def __init__(self, hosts: int, on_record: Callable[[Record], None], folder: Path) -> None:
        self._hosts, self._on_record, self._folder = hosts, on_record, folder
        self._seconds: dict[int, list[IntervalRecord]] = {}
        self._files: dict[str, Lines] = {}

    def take(self, host: str, record: Record) -> None:
        """Take what a host told of one of its records."""
        if host not in self._files:
            (self._folder / FOLDER / host).mkdir(parents=True, exist_ok=True)
            self._files[host] = Lines(self._folder / FOLDER / host / "live.jsonl")
        self._files[host].append_object(record)
        if record["record"] != "interval":
            return
        of_second = self._seconds.setdefault(record["second"], [])
        of_second.append(record)
        if len(of_second) == self._hosts:
            self._on_record(merge_intervals(self._seconds.pop(record["second"])))

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


class _Seen:
    """Keeps what is observed of each client host in its folder. rows: the same, by the host's name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Lines] = {}
        self.rows: dict[str, list[Row]] = {}

    def take(self, host: str, row: Row) -> None:
        """Take a sample."""
        if host not in self._files:
            (self._folder / FOLDER / host).mkdir(parents=True, exist_ok=True)
            self._files[host] = Lines(self._folder / FOLDER / host / LINES)
        self._files[host].append_object(row)
        self.rows.setdefault(host, []).append(row)

    def close(self) -> None:
        """Close the files, each of which becomes a table."""
        for host, file in self._files.items():
            file.close()
            close_observations(self._folder / FOLDER / host)


def _merge(context: Context, plan: Plan, secrets: list[str], folder: Path, parts: Sequence[Part]) -> Summary:
    """Write the records of all hosts as those of one, with the checks of the store's content, and sum them up."""
    summary = Summary(exit_status=max(part.exit_status or 0 for part in parts))
    changes: list[ChangesRecord] = []
    recorded = [[as_record(record) for _, record in read_lines(part.folder / "records.jsonl")] for part in parts]
    for records in recorded:
        changes += [record for record in records if record["record"] == "changes"]
    try:
        merged = list(merge_records(recorded, [part.offset_s for part in parts]))
    except ValueError as error:
        raise RunFailed(str(error)) from None
    _copy_logs(parts, folder)
    end: EndRecord | None = None
    if merged and merged[-1]["record"] == "end":
        end = merged[-1]
        del merged[-1]
    if end and end["status"] in ("complete", "interrupted") and len(parts) > 1:
        if len(changes) < len(parts):
            raise RunFailed("a load client did not record what it changed, so nothing can be verified")
        checks, failure = _verify(context, plan, secrets, folder, merge_changes(changes))
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
    context: Context, plan: Plan, secrets: list[str], folder: Path, changes: ChangesDocument
) -> tuple[list[Record], EndRecord | None]:
    """Check the store's content from this host; returns the records of that, and an end if it failed."""
    checks: list[Record] = []

    def record_came(record: Record) -> None:
        if record["record"] in ("check", "phase"):
            checks.append(record)

    verifying = folder / "verify"
    verifying.mkdir()
    summary = execute(
        replace(plan, phases=("verify",), changes=changes), secrets, verifying, context.supervision(), record_came
    )
    if reason := why_it_failed(summary, verifying):
        return checks, {"record": "end", "status": "failed", "reason": reason}
    return checks, None


def _describe(part: Part, start_unix_s: float | None, rows: Sequence[Row]) -> ClientHostStated:
    """Return what `trial.json` says of a host."""
    skew_s = part.begun_unix_s - start_unix_s if part.begun_unix_s is not None and start_unix_s is not None else None
    return {
        **_describe_host(part.member, "client", part.before, part.after),
        "clients": {"first": part.slice.first, "count": part.slice.count},
        "start_skew_s": None if skew_s is None else round(skew_s, 9),
        "network": describe_network(rows, start_unix_s) if start_unix_s is not None else None,
        "problem": part.problem,
        "lost": part.lost,
    }


def _describe_host(member: Member, role: str, before: Reading | None, after: Reading | None) -> KnownHostStated:
    return {
        "name": member.name,
        "role": role,
        "hostname": member.hostname,
        "address": member.host,
        "processors": member.processors,
        "clock_before": _describe_clock(before),
        "clock_after": _describe_clock(after),
        "drift_s": round(drift_s(before, after), 9) if before and after else None,
    }


def _describe_clock(reading: Reading | None) -> ClockStated | None:
    return {"offset_s": round(reading.offset_s, 9), "error_s": round(reading.error_s, 9)} if reading else None
