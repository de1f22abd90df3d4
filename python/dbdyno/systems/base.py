"""The interface of every system, as verbs."""

from __future__ import annotations

import math
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems.actions import Actions
from dbdyno.systems.analyst import Analyst
from dbdyno.systems.builds.layout import Layout
from dbdyno.systems.copier import Copier, Tool
from dbdyno.systems.errand import Errand
from dbdyno.systems.follower import Follower
from dbdyno.systems.live_settings import LiveSetting
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.guard import Guard
from dbdyno.systems.running.kept_data import KeptData
from dbdyno.systems.settings import PRIVATE, refuse_own
from dbdyno.systems.space import Space, Storage
from dbdyno.systems.witness import Versions, Witness

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject, LibraryRecord, StoreDocument
    from dbdyno.results.json_types import OriginStated, ServerStated

LOOPBACK = "127.0.0.1"
BLOCK_BYTES = 512
"""The unit of `st_blocks`, whatever the file system's own blocks are."""


@dataclass(frozen=True)
class NamedProcess:
    """A process that a person names as a server's, and where that server answers: an address or a Unix socket."""

    pid: int
    address: tuple[str, int] | None
    socket: str | None


@dataclass(frozen=True)
class Launch:
    """The parameters of a system's start.

    log_folder: where each server's log goes, as `server-NAME.log`.
    server_cpus: processors the servers may use, or None for any. memory_limit_bytes: of each server, or None.
    clients: the most that will connect at once. rows: per table that will be loaded.
    data: a loaded data directory (`System.keep`) to start on a copy of, or None to start empty.
    cold: have none of that copy in the kernel's memory.
    answer_timeout_s: for each answer of a server that is attached to.
    data_dir: where its data goes, in its own directory; None: below DBDYNO_DATA_DIR, or where temporary files are.
    parent: the file system whose power will be cut; it goes before data_dir, and for the first server alone.
    address: of this host, at which servers listen; another than loopback lets in clients on other hosts.
    """

    guard: Guard
    log_folder: Path
    clients: int
    rows: int
    server_cpus: tuple[int, ...] | None = None
    memory_limit_bytes: int | None = None
    data: Path | None = None
    cold: bool = False
    parent: Path | None = None
    answer_timeout_s: float = 10.0
    address: str = LOOPBACK
    data_dir: Path | None = None


@dataclass(frozen=True)
class Durability:
    """The durability class (docs/statistics.md, section 7), and the settings it follows from.

    level: `D0` nothing survives a crash, `D1` flushed periodically, `D2` flushed before it is acknowledged, `unknown`.
    """

    level: str
    reason: str


@dataclass(frozen=True)
class Room:
    """A setting that says how much memory there is for data.

    unit_bytes: of its value. per_data_byte: what a byte of a row's values takes there, seen with the rows of `game`.
    suffix: what the unit is called behind the number.
    """

    unit_bytes: int
    per_data_byte: float
    suffix: str = ""

    def setting(self, share: str, data_bytes: int) -> str:
        """Return the value that makes room for a share such as `25%` of so many bytes of rows.

        Raises ValueError if it is no share.
        """
        part = float(share.removesuffix("%")) / 100
        if not 0 <= part < math.inf:
            raise ValueError(share)
        units = part * data_bytes * self.per_data_byte / self.unit_bytes
        return f"{math.ceil(units)}{self.suffix}"


class System(ABC):
    """One configuration of one system, from start to stop.

    name: as in an experiment. what: one line for a person. operations: the logical operations its store can do.
    reasons: why it cannot do one that a reader may expect of it.
    libraries: the client libraries that can drive it beside the native client (`dbdyno.experiment.clients`).
    embedded: True if it runs inside the load client and has no server.
    room: settings that can be a share of the data, such as `25%`, by name.
    storage: what it makes of rows. table_share: what a table loaded in bulk takes, for each byte of its file.
    several_analysts: several connections for whole tables can be open at once.
    copy_tools: what dumps and restores its tables, by name; only if the store can `copy`.
    forks: True if its server is several processes, of which `server_pids` gives the first.
    can_crash: True if it can be killed, and started again on what it left.
    can_keep: True if it has `keep`, unless a setting forbids it.
    pipelines: True if its store sends several requests before it reads the answers (docs/contract.md, The plan).
    takes_parts: True if it is an arrangement of other systems, which it is built with.
    serves_hosts: True if its server can be started for clients on other hosts (`Launch.address`).
    speaks_sql: True if it has `statement`. actions: what events can do to a server of it, by name.
    schemes: of the URLs of servers that dbdyno attaches to and does not start.
    levers: for a limit in a verdict, a setting with a value that should move it (`dbdyno.verdict.limits`).
    live_settings: of `levers`, those that a running server takes.
    background_threads: what its threads that serve no client do, by their names.
    log_threads: the names of its threads that flush the log, while the threads that write wait for that.
    package: what its name alone means where that is not the host's, by the name in `packages.catalogue`.
    layout: how a build of it is named by its path, if it can be started from one.
    reserved: settings that are dbdyno's own to give, in small letters with underscores.
    server_name: what its process, log and counters are called; the name, unless an arrangement has two of them.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    operations: frozenset[str]
    reasons: ClassVar[Mapping[str, str]] = {}
    libraries: ClassVar[tuple[str, ...]] = ()
    embedded: bool = False
    room: ClassVar[Mapping[str, Room]] = {}
    storage: ClassVar[Storage] = Storage()
    table_share: ClassVar[float] = 1.0
    several_analysts: ClassVar[bool] = True
    copy_tools: Mapping[str, Tool] = {}
    forks: ClassVar[bool] = False
    can_crash: ClassVar[bool] = False
    can_keep: ClassVar[bool] = False
    pipelines: ClassVar[bool] = False
    takes_parts: ClassVar[bool] = False
    serves_hosts: ClassVar[bool] = False
    speaks_sql: ClassVar[bool] = False
    actions: ClassVar[Actions] = {}
    schemes: ClassVar[tuple[str, ...]] = ()
    levers: Mapping[str, str] = {}
    live_settings: ClassVar[Mapping[str, LiveSetting]] = {}
    background_threads: ClassVar[Mapping[str, str]] = {}
    log_threads: ClassVar[tuple[str, ...]] = ()
    package: ClassVar[str | None] = None
    layout: ClassVar[Layout | None] = None
    reserved: ClassVar[frozenset[str]] = PRIVATE

    def __init__(self, spec: SystemSpec) -> None:
        """Take a configuration; raises UserError if it holds what this system cannot be given."""
        self.spec = spec
        self.server_name = self.name
        if spec.url is None:
            placing = self.layout.settings if self.layout else frozenset()
            refuse_own(spec.label, spec.settings.keys() - placing, self.reserved)

    @classmethod
    def made_of(cls, spec: SystemSpec, parts: list[System]) -> System:
        """Return an arrangement of other systems; only if it `takes_parts`. Raises UserError as the class does."""
        raise NotImplementedError(f"{cls.name} takes no parts")

    def private_servers(self) -> list[System]:
        """Return the servers in it that dbdyno starts, in order; an arrangement has several, and none is nested."""
        return [] if self.spec.url or self.embedded else [self]

    @classmethod
    def path_of(cls, spec: SystemSpec) -> str | None:
        """Return the path at which a configuration says that its build is; None if it names none."""
        return spec.settings.get(cls.layout.setting) if cls.layout and not spec.url else None

    @classmethod
    def serves(cls, spec: SystemSpec) -> bool:
        """Return whether a variant of another system is what a configuration of that one means (see `Family`)."""
        del spec
        return False

    @classmethod
    def libraries_for(cls, settings: Mapping[str, str]) -> tuple[str, ...]:
        """Return the client libraries that can drive it with these settings."""
        del settings
        return cls.libraries

    @classmethod
    def missing(cls) -> str | None:
        """Return what is not installed and how to get it, or None if everything is there."""
        return None

    @classmethod
    def missing_for(cls, settings: Mapping[str, str]) -> str | None:
        """Return what these settings take beside the system, and is not installed, and how to get it; or None."""
        del settings
        return None

    @abstractmethod
    def start(self, launch: Launch) -> None:
        """Start it, or attach to it, and return when it answers.

        Raises UserError if its settings are wrong (quoting the server's own words), RunFailed if it does not come up.
        """

    @abstractmethod
    def stop(self) -> None:
        """Stop it and remove what was made for it; may be called at any time, and twice."""

    def restart(self) -> None:
        """Stop its servers in good order and start them again with all they hold; nothing to do if there are none.

        Raises RunFailed if they do not stop or come up.
        """
        return

    def kill(self) -> None:
        """Kill its servers without warning, with all their processes; embedded stores die with the load client."""
        return

    def start_again(self) -> None:
        """Start what was killed on what it left, and return when it answers.

        Raises UserError (as from `start`) or RunFailed if it does not come up.
        """
        return

    def repair(self) -> str | None:
        """Repair what keeps a killed store from starting, as its operator would, and return the command that did it.

        None if there is no such command, or it did not help; nothing else has changed then.
        """
        return None

    def replica_to_kill(self) -> System:
        """Return a replica that can be killed, and started again, while the clients of the others go on.

        Raises UserError if it has none.
        """
        raise UserError(
            f"{self.spec.label}: it has no replica to kill: give replicated(mariadb*2), replicated(postgresql*2) or "
            "galera?write=one"
        )

    def witnesses(self) -> list[Witness]:
        """Return what should hold the same rows as it, by the settings in force; asked for before it is killed."""
        return []

    def versions(self, tables: Mapping[str, int]) -> Versions:
        """Return the version of each row of these tables (name to rows); only if it has `witnesses`."""
        raise NotImplementedError(f"{self.name} has nothing to be compared with")

    def followers(self) -> list[Follower]:
        """Return each of its replicas beside its primary, none of them connected yet."""
        return []

    def opened(self, library: LibraryRecord) -> None:
        """Take what an embedded store's library said of itself when it was opened (`store` in docs/contract.md)."""
        raise NotImplementedError(f"{self.name} runs in no load client")

    def analyst(self) -> Analyst:
        """Return a new connection for whole tables; only if the store can `analyse`."""
        raise NotImplementedError(f"{self.name} answers no SQL over whole tables")

    def space(self, records: float, data_bytes: float) -> Space:
        """Return what so many records take, whose values are so many bytes; nothing if somebody else has them."""
        return Space() if self.spec.url else self.storage.space(records, data_bytes)

    def tool_program(self, name: str) -> str | None:
        """Return the path of a program of its tools, or None if it is not there."""
        return shutil.which(name)

    def missing_tool(self, tool: str) -> str | None:
        """Return which program of one of its tools is not installed and how to get it, or None if all are there."""
        wanted = self.copy_tools[tool]
        lacking = [name for name in wanted.programs if self.tool_program(name) is None]
        return f"{lacking[0]} is not installed: apt install {wanted.package}" if lacking else None

    def tool_programs(self, tool: str) -> dict[str, str]:
        """Return the path of each program of one of its tools, all of which are there."""
        return {name: self.tool_program(name) or name for name in self.copy_tools[tool].programs}

    def copier(self, tool: str, workers: int, programs: Mapping[str, str] | None = None) -> Copier:
        """Return what copies its tables by one of its tools, with so many workers; only if the store can `copy`.

        programs: the path of each that the tool has, if they are to be others than its own.
        """
        raise NotImplementedError(f"{self.name} is copied by no tools")

    def statement(self, sql: str) -> Errand:
        """Return what executes statements over its own connection; only if it `speaks_sql`."""
        raise NotImplementedError(f"{self.name} takes no SQL")

    def action(self, name: str, table: str | None = None) -> Errand:
        """Return what does one of its `actions`, if it is one of a table to this one; without a name to the largest.

        `restart` and `kill` are verbs of their own.
        """
        raise NotImplementedError(f"{self.name} has no action '{name}'")

    def action_program(self, name: str) -> str | None:
        """Return the path of the program that does an action; None if there is none, or none is needed."""
        paths = (self.tool_program(program) for program in self.actions[name].programs)
        return next(filter(None, paths), None)

    def missing_for_action(self, name: str) -> str | None:
        """Return which program of an action is not installed and how to get it, or None if nothing is missing."""
        wanted = self.actions[name]
        if not wanted.programs or self.action_program(name):
            return None
        return f"{wanted.programs[0]} is not installed: apt install {wanted.package}"

    def login(self, folder: Path) -> dict[str, str]:
        """Return environment variables with the addresses of its servers, and files in `folder` that let one in.

        Passwords are in the files alone, which only the user can read.
        """
        del folder
        addresses = (f"{name}={host}:{port}" for name, (host, port) in self.addresses().items())
        return {"DBDYNO_SERVERS": " ".join(addresses)}

    def why_one_at_a_time(self) -> str | None:
        """Return why its store takes one request at a time, or None if it takes several."""
        return None if self.pipelines else "takes one request at a time"

    @property
    def restorable(self) -> bool:
        """Return whether `keep` is possible: all that was loaded is in files, and these are dbdyno's own."""
        return self.can_keep

    def keep(self) -> KeptData:
        """Stop it in good order and return its data, for the caller to remove; only if `restorable`.

        Raises RunFailed if it does not stop in good order.
        """
        raise NotImplementedError(f"{self.name} cannot start again from its data")

    def cache_state(self, restored: bool) -> str | None:
        """Return the cache state when the first trial begins, None if unknown (docs/statistics.md, section 7).

        `hot`: what loading left in them. `lukewarm`: nothing, but the kernel has the files in memory
        (of `cold`, a requested restart, `Launch` knows).
        """
        if self.spec.attached:
            return None
        return "lukewarm" if restored else "hot"

    def server_pids(self) -> dict[str, int]:
        """Return the servers dbdyno started, name to pid."""
        return {}

    def named_processes(self) -> dict[str, NamedProcess]:
        """Return the processes of attached servers that a person named in the URL, by the server's name."""
        return {}

    def addresses(self) -> dict[str, tuple[str, int]]:
        """Return host and port of each server that clients reach over TCP, by the server's name."""
        return {}

    def sockets(self) -> dict[str, str]:
        """Return the path of the Unix socket of each server that clients reach by one, by the server's name."""
        return {}

    def started_with(self) -> dict[str, list[str]]:
        """Return the settings that dbdyno gave the servers it started, by name; `DIR` and `PORT` for the private."""
        return {}

    def origins(self) -> dict[str, OriginStated]:
        """Return what each server was started from, server name to `build` and `config` of `trial.json`."""
        return {}

    def forking(self) -> frozenset[str]:
        """Return the names of those servers that are several processes."""
        return frozenset(self.server_pids()) if self.forks else frozenset()

    def data_directories(self) -> tuple[Path, ...]:
        """Return where its data lies, as far as that is on this host and dbdyno's."""
        return ()

    def data_bytes(self) -> int | None:
        """Return what its data takes on disk, blocks and not lengths; None if it does not lie on dbdyno's hosts."""
        folders = self.data_directories()
        if not folders:
            return None
        size = 0
        for folder, _, names in chain.from_iterable(map(os.walk, folders)):
            for name in names:
                # A server that runs makes and removes files while they are counted.
                with suppress(OSError):
                    size += os.lstat(os.path.join(folder, name)).st_blocks * BLOCK_BYTES
        return size

    def probes(self) -> list[Probe]:
        """Return a probe of each server that shows its figures and its waits, none of them open yet."""
        return []

    def death(self) -> str | None:
        """Return how a server ended that should be running, or None."""
        return None

    def replaced(self) -> str | None:
        """Return that a server's build is not the one that was started, or None."""
        return None

    @abstractmethod
    def servers(self) -> list[ServerStated]:
        """Return each server's `name`, `version` and `effective_settings`, as `trial.json` has them."""

    def all_settings(self) -> dict[str, dict[str, str]]:
        """Return every setting in force that may be stored: server name to setting to value."""
        return {server["name"]: server["effective_settings"] for server in self.servers()}

    def live_setting(self, limit: str) -> LiveSetting | None:
        """Return the setting that moves a limit of a verdict, and that it takes while it runs; or None."""
        return self.live_settings.get(limit)

    def setting(self, name: str) -> str:
        """Return one setting in force; only of `live_settings`."""
        raise NotImplementedError(f"{self.name} takes no setting while it runs")

    def change_setting(self, name: str, value: str) -> None:
        """Change a setting of the running server; raises UserError if it does not take it. Only of `live_settings`."""
        raise NotImplementedError(f"{self.name} takes no setting while it runs")

    @abstractmethod
    def durability(self) -> Durability:
        """Return the durability of the settings in force."""

    def cautions(self) -> list[str]:
        """Return what the owner of a server that is attached to risks by a run, a sentence each."""
        return []

    def counters(self) -> dict[str, dict[str, int]]:
        """Return each server's own counters: server name to counter to value."""
        return {}

    @abstractmethod
    def store_plan(self, secrets: list[str]) -> StoreDocument:
        """Return the plan's `store` (docs/contract.md); passwords go to `secrets`, their index in the plan."""


@dataclass(frozen=True)
class Family:
    """The systems of one folder.

    systems: those dbdyno starts, by their names. attached: those it attaches to, by the schemes of their URLs.
    variants: those that take over some configurations of another system (`System.serves`).
    parts: those that there are in arrangements only.
    """

    systems: tuple[type[System], ...]
    attached: tuple[type[System], ...] = ()
    variants: tuple[type[System], ...] = ()
    parts: tuple[type[System], ...] = ()


def numbers_of(mapping: JsonObject, wanted: tuple[str, ...]) -> dict[str, int]:
    """Return those of `wanted` that `mapping` has, as whole numbers."""
    return {key: int(mapping[key]) for key in wanted if key in mapping}
