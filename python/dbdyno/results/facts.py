"""The contents of `run.json`, `trial.json` and `preparation.json` (docs/run-folder.md), typed: written and read here.

A key that an older run lacks is `None`, or has the value it stood for then; keys that this version does not know are
left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Self, cast

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject
    from dbdyno.results.json_types import (
        AnalysisStated,
        BuildStated,
        ClientHostStated,
        CopyStated,
        CountersStated,
        CrashStated,
        DurabilityStated,
        EventStated,
        GroupStated,
        HostStated,
        LagStated,
        LeftOutStated,
        LimitStated,
        LoadedStated,
        NotSeenStated,
        PaceStated,
        ProfiledStated,
        RateStated,
        SearchStated,
        ServerStated,
        SessionStated,
        SkippedStated,
        SystemStated,
        UsageStated,
    )

_ONCE = "once"


def _once(name: str) -> Mapping[str, str]:
    """Return the metadata of a fact that its file has from the moment on that the fact `name` is known."""
    return {_ONCE: name}


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts that are read from a JSON object by the names of their fields."""

    @classmethod
    def read(cls, value: JsonObject) -> Self:
        """Return the facts of an object; what it lacks has its default."""
        return cls(**{name: value[name] for name in (fact.name for fact in fields(cls)) if name in value})


def _document(facts: _Facts) -> dict[str, object]:
    """Return facts as their file has them: in the order of their fields, each from the moment on that it is known."""
    return {
        fact.name: getattr(facts, fact.name)
        for fact in fields(facts)
        if _ONCE not in fact.metadata or getattr(facts, fact.metadata[_ONCE]) is not None
    }


@dataclass(frozen=True, slots=True)
class Durability:
    """The crashes that an acknowledged write survives: `level` is D0 to D3, `unknown` if nobody knows."""

    level: str
    reason: str | None

    @classmethod
    def read(cls, value: JsonObject | None) -> Durability:
        """Return it; of a trial that was not reached it is unknown."""
        value = value or {}
        return cls(str(value.get("class") or "unknown"), value.get("reason"))


@dataclass(frozen=True, slots=True)
class Server(_Facts):
    """One server of a store, or an embedded store's library.

    Attributes:
        started_with: every option that dbdyno started it with; `None` if dbdyno did not start it.
        not_readable: settings that a library was given and does not show.
        config: the user's configuration file it was given (`path`, `sha256`, `settings`).
        build: which build it is, if it was started from a path (docs/run-folder.md).
    """

    name: str = ""
    version: str | None = None
    effective_settings: JsonObject | None = None
    started_with: Sequence[str] | None = None
    not_readable: Sequence[str] = ()
    build: Mapping[str, str | None] | None = None
    config: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class NotSeen(_Facts):
    """A band that could not be observed, and why."""

    band: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """A started and loaded system.

    Attributes:
        stated: the facts that its preparation and each of its trials state.
        rows, loaded: of a table that was loaded in bulk, else `None`.
    """

    stated: SystemStated
    rows: int | None = None
    loaded: LoadedStated | None = None


@dataclass(frozen=True, slots=True)
class TrialFacts(_Facts):
    """`trial.json`; its keys are the fields, in this order. Objects that are handed on as they are stay JSON.

    Attributes:
        durability: the class and the reason; `promised` has it typed.
        levers, background_threads: as `SystemStated` has them.
        data_bytes: the store's data on disk at the end; `None` also if it lies elsewhere.
        replicas: how far each was behind its primary; `None` if there are none, or nothing was observed.
        usage: what each process used, if it was observed.
        client_build: the file that the client names by its path, a C library or a program.
        variant: the keys of the experiment that the system has for itself, in the words of its label; older runs have
            none, and neither `load_threads` nor `data_dir`.
    """

    trial: str | None = None
    preparation: str | None = None
    system: str | None = None
    label: str | None = None
    client: str = "native"
    settings: JsonObject | None = None
    servers: Sequence[ServerStated] = ()
    embedded: bool | None = None
    attached: bool | None = None
    durability: DurabilityStated | None = None
    data: str | None = None
    cache_state: str | None = None
    restart: str | None = None
    answered_unix_s: float | None = None
    workload: str | None = None
    options: JsonObject | None = None
    rows: int | None = None
    clients: int | None = None
    pipeline: int = 1
    network_delay_us: int = 0
    rate: RateStated | None = None
    client_ceiling_per_s: float | None = None
    client_ceiling_note: str | None = None
    repeat: int | None = None
    seconds: int | None = None
    warmup_seconds: int | None = None
    warmup: str | None = None
    client_cpus: Sequence[int] | None = None
    load_threads: int | None = field(default=None, metadata=_once("variant"))
    data_dir: str | None = field(default=None, metadata=_once("variant"))
    variant: Mapping[str, str] | None = field(default=None, metadata=_once("variant"))
    server_cpus: Sequence[int] | None = None
    memory_limit_bytes: int | None = None
    started_unix_s: float | None = None
    ended_unix_s: float | None = None
    state: str = ""
    reason: str | None = None
    exit_status: int | None = None
    server_counters: Mapping[str, CountersStated] | None = None
    python_cpu_s: float | None = None
    observer_cpu_s: float | None = None
    not_seen: Sequence[NotSeenStated] = ()
    pace: PaceStated | None = field(default=None, metadata=_once("pace"))
    client_groups: Sequence[GroupStated] | None = field(default=None, metadata=_once("client_groups"))
    levers: Mapping[str, str] | None = field(default=None, metadata=_once("levers"))
    background_threads: Mapping[str, str] | None = field(default=None, metadata=_once("background_threads"))
    loaded: LoadedStated | None = field(default=None, metadata=_once("loaded"))
    server_pids: Mapping[str, int] | None = field(default=None, metadata=_once("server_pids"))
    hosts: Sequence[HostStated] | None = field(default=None, metadata=_once("hosts"))
    events: Sequence[EventStated] | None = field(default=None, metadata=_once("events"))
    replicas: Sequence[LagStated] | None = field(default=None, metadata=_once("replicas"))
    data_bytes: int | None = field(default=None, metadata=_once("python_cpu_s"))
    profiled: ProfiledStated | None = field(default=None, metadata=_once("profiled"))
    usage: Sequence[UsageStated] | None = field(default=None, metadata=_once("usage"))
    analysis: AnalysisStated | None = field(default=None, metadata=_once("analysis"))
    crash: CrashStated | None = field(default=None, metadata=_once("crash"))
    copy: CopyStated | None = field(default=None, metadata=_once("copy"))
    client_build: BuildStated | None = field(default=None, metadata=_once("client_build"))

    def document(self) -> dict[str, object]:
        """Return it as `trial.json` has it."""
        return _document(self)

    def on(self, system: SystemFacts) -> TrialFacts:
        """Return it as a trial of a system that is started and loaded."""
        return replace(
            self,
            **system.stated,
            rows=self.rows if system.rows is None else system.rows,
            loaded=system.loaded,
        )

    @property
    def server_hosts(self) -> list[HostStated]:
        """The hosts that ran servers; none of a trial on one host, or of a server that was only reached."""
        return [host for host in self.hosts or () if host.get("role") == "server"]

    @property
    def client_hosts(self) -> list[HostStated]:
        """The hosts that issued the load; none of a trial on one host."""
        return [host for host in self.hosts or () if host.get("role") != "server"]

    @property
    def transactions_in_flight(self) -> int:
        """How many transactions a closed loop keeps in flight: clients × pipeline."""
        return (self.clients or 0) * (self.pipeline or 1)

    @property
    def is_pausing(self) -> bool:
        """True if clients have nothing in flight at times, because they think, wait for an arrival or begin later."""
        thinks = bool(self.pace and self.pace["think_time"])
        groups = self.client_groups or ()
        return thinks or any(group["rate"] or group["think_time"] or group["start_s"] for group in groups)

    @property
    def automatic_warmup(self) -> bool:
        """Return whether the figures begin at the steady state."""
        return self.warmup == "auto"

    @property
    def profiled_seconds(self) -> Sequence[int]:
        """Seconds that figures leave out, as stacks were recorded in them."""
        return self.profiled["seconds"] if self.profiled else ()

    @property
    def known_servers(self) -> tuple[Server, ...]:
        """The servers, typed."""
        return tuple(map(Server.read, self.servers or ()))

    @property
    def settings_but_builds(self) -> JsonObject:
        """The settings that were given, without those that name a build by its path."""
        places = {server.build["setting"] for server in self.known_servers if server.build}
        return {key: value for key, value in (self.settings or {}).items() if key.rpartition(".")[2] not in places}

    def settings_of(self, server: str) -> JsonObject:
        """Return the effective settings of a server; none if it is not known."""
        settings = (known.effective_settings for known in self.known_servers if known.name == server)
        return next(filter(None, settings), {})

    @property
    def unseen(self) -> tuple[NotSeen, ...]:
        """The bands that could not be observed, typed."""
        return tuple(map(NotSeen.read, self.not_seen or ()))

    @property
    def promised(self) -> Durability:
        """The crashes that an acknowledged write survives."""
        return Durability.read(self.durability)


_BEGUN = ("preparation", "system", "label", "workload", "repeat", "started_unix_s")
_RESTORED = ("restore_seconds", "loaded_in")


@dataclass(frozen=True, slots=True)
class PreparationFacts(_Facts):
    """`preparation.json`; its keys are the fields, in this order.

    Attributes:
        start_seconds, load_seconds: of a system that was loaded here.
        not_restored: why a copy of the loaded data is not used.
        restore_seconds, loaded_in: of a system that was started on a copy of data, and which preparation loaded that.
    """

    preparation: str | None = None
    system: str | None = None
    label: str | None = None
    workload: str | None = None
    repeat: int | None = None
    started_unix_s: float | None = None
    start_seconds: float | None = field(default=None, metadata=_once("start_seconds"))
    servers: Sequence[ServerStated] = field(default=(), metadata=_once("data"))
    embedded: bool | None = field(default=None, metadata=_once("data"))
    server_cpus: Sequence[int] | None = field(default=None, metadata=_once("data"))
    memory_limit_bytes: int | None = field(default=None, metadata=_once("data"))
    durability: DurabilityStated | None = field(default=None, metadata=_once("data"))
    levers: Mapping[str, str] | None = field(default=None, metadata=_once("levers"))
    background_threads: Mapping[str, str] | None = field(default=None, metadata=_once("background_threads"))
    data: str | None = field(default=None, metadata=_once("data"))
    cache_state: str | None = field(default=None, metadata=_once("data"))
    answered_unix_s: float | None = field(default=None, metadata=_once("data"))
    load_seconds: float | None = field(default=None, metadata=_once("load_seconds"))
    not_restored: str | None = field(default=None, metadata=_once("not_restored"))
    restore_seconds: float | None = field(default=None, metadata=_once("restore_seconds"))
    loaded_in: str | None = field(default=None, metadata=_once("loaded_in"))
    state: str | None = field(default=None, metadata=_once("state"))
    reason: str | None = field(default=None, metadata=_once("state"))

    def document(self) -> dict[str, object]:
        """Return it as `preparation.json` has it; a system that was restored and not loaded says that first."""
        stated = _document(self)
        if self.start_seconds is not None:
            return stated
        restored = {name: stated.pop(name) for name in _RESTORED if name in stated}
        begun = {name: stated.pop(name) for name in _BEGUN}
        return begun | restored | stated

    def on(self, system: SystemFacts) -> PreparationFacts:
        """Return it with what is known of its system once that is started."""
        return replace(self, **system.stated)


@dataclass(frozen=True, slots=True)
class RunFacts(_Facts):
    """`run.json`; its keys are the fields, in this order.

    Attributes:
        passes: the number of trials of each pass that was added behind the planned ones; `None` if there is none.
        left_out, find_rate, limits, sessions: if a sweep ended early, rates were searched for, the experiment has
            limits, or the run was resumed; else `None`.
    """

    format: int | None = None
    dbdyno: str | None = None
    run: str | None = None
    experiment: str | None = None
    question: str | None = None
    look_for: str | None = None
    command: str | None = None
    started_unix_s: float | None = None
    ended_unix_s: float | None = None
    state: str | None = None
    reason: str | None = None
    systems: Sequence[str] = ()
    workloads: Sequence[str] = ()
    order: str | None = None
    seed: int | None = None
    trials: Sequence[str] = ()
    skipped: Sequence[SkippedStated] = ()
    passes: Sequence[int] | None = field(default=None, metadata=_once("passes"))
    left_out: Sequence[LeftOutStated] | None = field(default=None, metadata=_once("left_out"))
    find_rate: Sequence[SearchStated] | None = field(default=None, metadata=_once("find_rate"))
    limits: Sequence[LimitStated] | None = field(default=None, metadata=_once("limits"))
    sessions: Sequence[SessionStated] | None = field(default=None, metadata=_once("sessions"))

    def document(self, keys: Sequence[str] = ()) -> dict[str, object]:
        """Return it as `run.json` has it.

        keys: those that the file of a resumed run has already, which keep their order.
        """
        stated = _document(self)
        return {name: stated[name] for name in dict.fromkeys([*keys, *stated]) if name in stated}


def client_host(host: HostStated) -> ClientHostStated | None:
    """Return a host with its part of the load; `None` if it ran the server."""
    return cast("ClientHostStated", host) if host.get("role", "client") == "client" else None
