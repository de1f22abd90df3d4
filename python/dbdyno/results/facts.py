"""The contents of `run.json`, `trial.json` and `preparation.json` (docs/run-folder.md), typed.

A key that an older run lacks is `None`, or has the value it stood for then; keys that this version does not know are
left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from dbdyno.results.stated import (
    AnalysisStated,
    CopyStated,
    CrashStated,
    EventStated,
    GroupStated,
    LoadedStated,
    PaceStated,
    ProfiledStated,
    RateStated,
)

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts that are read from a JSON object by the names of their fields."""

    @classmethod
    def read(cls, value: JsonObject) -> Self:
        """Return the facts of an object; what it lacks has its default."""
        return cls(**{name: value[name] for name in (field.name for field in fields(cls)) if name in value})


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
class TrialFacts(_Facts):
    """`trial.json`. Objects that are handed on as they are stay JSON.

    Attributes:
        levers: a setting of the system, with a value, for each limit that it would move.
        background_threads: what the store's background threads of a name do.
        variant: the keys of the experiment that the system has for itself, in the words of its label.
    """

    preparation: str | None = None
    system: str | None = None
    label: str | None = None
    client: str = "native"
    settings: JsonObject | None = None
    servers: Sequence[JsonObject] = ()
    server_pids: Mapping[str, int] | None = None
    embedded: bool | None = None
    attached: bool | None = None
    durability: JsonObject | None = None
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
    pace: PaceStated | None = None
    client_groups: Sequence[GroupStated] = ()
    repeat: int | None = None
    seconds: int | None = None
    warmup_seconds: int | None = None
    warmup: str | None = None
    profiled: ProfiledStated | None = None
    client_ceiling_per_s: float | None = None
    client_ceiling_note: str | None = None
    client_cpus: Sequence[int] | None = None
    server_cpus: Sequence[int] | None = None
    memory_limit_bytes: int | None = None
    variant: Mapping[str, str] = field(default_factory=dict)
    started_unix_s: float | None = None
    ended_unix_s: float | None = None
    state: str = ""
    reason: str | None = None
    server_counters: Mapping[str, JsonObject] | None = None
    observer_cpu_s: float | None = None
    python_cpu_s: float | None = None
    levers: Mapping[str, str] | None = None
    background_threads: Mapping[str, str] | None = None
    not_seen: Sequence[JsonObject] = ()
    data_bytes: int | None = None
    loaded: LoadedStated | None = None
    analysis: AnalysisStated | None = None
    crash: CrashStated | None = None
    copy: CopyStated | None = None
    hosts: Sequence[JsonObject] | None = None
    events: Sequence[EventStated] = ()

    @property
    def transactions_in_flight(self) -> int:
        """How many transactions a closed loop keeps in flight: clients × pipeline."""
        return (self.clients or 0) * (self.pipeline or 1)

    @property
    def is_pausing(self) -> bool:
        """True if clients have nothing in flight at times, because they think, wait for an arrival or begin later."""
        thinks = bool(self.pace and self.pace["think_time"])
        return thinks or any(group["rate"] or group["think_time"] or group["start_s"] for group in self.client_groups)

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


@dataclass(frozen=True, slots=True)
class PreparationFacts(_Facts):
    """`preparation.json`."""

    loaded_in: str | None = None
    load_seconds: float | None = None
    cache_state: str | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class RunFacts(_Facts):
    """`run.json`."""

    run: str | None = None
    experiment: str | None = None
    question: str | None = None
    look_for: str | None = None
    command: str | None = None
    dbdyno: str | None = None
    state: str | None = None
    reason: str | None = None
    order: str | None = None
    started_unix_s: float | None = None
    ended_unix_s: float | None = None
    systems: Sequence[str] = ()
    workloads: Sequence[str] = ()
    skipped: Sequence[JsonObject] = ()
    left_out: Sequence[JsonObject] = ()
    find_rate: Sequence[JsonObject] = ()
    limits: Sequence[JsonObject] = ()
    sessions: Sequence[JsonObject] = ()
