"""Tokyo Tyrant, started privately from where its program is: a server of one Tokyo Cabinet file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import UserError, did_you_mean
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.workloads import (
    DELETE,
    FIND_SECONDARY,
    FIND_UNIQUE,
    GET,
    GET_MANY,
    INSERT,
    PUT,
    UPDATE,
)
from dbdyno.systems.actions import OUTAGES
from dbdyno.systems.base import Durability, Launch, numbers_of
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import CONNECT_TIMEOUT_S, Endpoint
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess, find_program
from dbdyno.systems.running.server import Server
from dbdyno.systems.settings import PRIVATE
from dbdyno.systems.space import Storage
from dbdyno.systems.tokyotyrant.client import Client
from dbdyno.systems.tokyotyrant.probe import STAT, TokyoTyrantProbe

if TYPE_CHECKING:
    from dbdyno.contract import StoreDocument
    from dbdyno.results.json_types import ServerStated

TYPES = {"hash": "data.tch", "tree": "data.tcb", "table": "data.tct"}
"""Values of `type`, the default first, and the name of the database, by whose end ttserver knows its type."""
SHOWN_AS = {"hash": "hash", "tree": "B+ tree", "table": "table"}
"""The names that ttserver has for them."""
BUCKETS_PER_ROW = 2
"""Unless a setting says otherwise: with fewer than one a row every get follows a chain."""
DEFAULT_THREADS = 8
COMPRESSIONS = {"none": "l", "deflate": "ld", "bzip2": "lb", "tcbs": "lt"}
"""Values of `compression`, and ttserver's options for each; `l`: files may be larger than 2 GiB."""
NUMBERS = ("threads", "buckets", "mmap_mib")
ACCEPTED = ("type", "connect", "compression", "update_log", *NUMBERS)
COUNTERS = tuple(name for name in STAT if name.startswith("cnt_"))
_OWN = frozenset(("pid", "log", "sid", "mhost", "mport", "rts", "dmn", "ulog"))
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")


class TokyoTyrant(Server):
    """A private ttserver. Settings: ACCEPTED."""

    name = "tokyotyrant"
    what = "Tokyo Tyrant by its path (binary=/usr/bin/ttserver; type=hash, tree or table)"
    protocol: ClassVar[str] = "Tokyo Tyrant"
    operations = frozenset((GET, GET_MANY, UPDATE, FIND_UNIQUE, PUT, DELETE, INSERT))
    reasons: ClassVar[dict[str, str]] = {FIND_SECONDARY: "only a table has columns: type=table"}
    own_settings: ClassVar[tuple[str, ...]] = ACCEPTED
    driver_errors = (OSError,)
    pipelines = True
    can_crash = True
    actions = OUTAGES
    layout = Layout(
        "binary", beside("ttserver"), re.compile(r"Tokyo Tyrant version (?P<version>\S+)"), ask=("--version",)
    )
    reserved = PRIVATE | _OWN
    storage: ClassVar[Storage] = Storage(1.05, 65)
    levers: Mapping[str, str] = {"server-thread": "threads=16"}

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self._check_settings()
        if self._type == "table":
            self.operations = self.operations | {FIND_SECONDARY}

    def _check_settings(self) -> None:
        for key in self.server_settings:
            hint = did_you_mean(key, ACCEPTED)
            raise UserError(f"{self.spec.label}: no setting '{key}'{hint} There are {', '.join(ACCEPTED)}.")
        self.check_choice("type", tuple(TYPES))
        self.check_choice("compression", tuple(COMPRESSIONS))
        self.check_choice("update_log", ("off", "on"))
        for key in NUMBERS:
            if (value := self.spec.settings.get(key)) and not _NUMBER.fullmatch(value):
                raise UserError(f"{self.spec.label}: {key} = '{value}': give a whole number")

    @property
    def _type(self) -> str:
        return self.spec.settings.get("type", "hash")

    @classmethod
    def missing(cls) -> str | None:
        if find_program("ttserver"):
            return None
        return "ttserver is not installed: no registry has it; build it, or say tokyotyrant?binary=/path/to/ttserver"

    def start(self, launch: Launch) -> None:
        self._directory = directory = PrivateDirectory(launch)
        if self.on_socket:
            self.endpoint = Endpoint(socket=str(directory.socket_path()))
            where = ["-host", self.endpoint.socket or "", "-port", "0"]
        else:
            self.endpoint = Endpoint(launch.address, self.new_port(launch.address))
            where = ["-host", launch.address, "-port", str(self.endpoint.port)]
        tuned = self._database(launch)
        argv = [*self.program("ttserver"), *where, *self._options(directory), str(directory.path / tuned)]
        self._tuned = tuned
        self._run = lambda: ServerProcess(self.server_name, argv, directory, launch)
        self._server = self._run()
        self._server.wait_ready(self._answers)

    def _options(self, directory: PrivateDirectory) -> list[str]:
        threads = self.spec.settings.get("threads", str(DEFAULT_THREADS))
        log = ["-ulog", str(directory.folder("update-log"))] if self._logs else []
        return ["-le", "-thnum", threads, *log]

    @property
    def _logs(self) -> bool:
        return self.spec.settings.get("update_log") == "on"

    def _database(self, launch: Launch) -> str:
        """Return the name of the database's file with its tuning, as ttserver takes it."""
        settings = self.spec.settings
        buckets = settings.get("buckets") or str(max(1, launch.rows * BUCKETS_PER_ROW))
        tuning = [f"bnum={buckets}", f"opts={COMPRESSIONS[settings.get('compression', 'none')]}"]
        if mmap_mib := settings.get("mmap_mib"):
            tuning.append(f"xmsiz={int(mmap_mib) << 20}")
        return "#".join([TYPES[self._type], *tuning])

    def started_with(self) -> dict[str, list[str]]:
        # The database is no option, but what follows the others.
        return {name: [*options, self._tuned] for name, options in super().started_with().items()}

    def _answers(self) -> bool:
        try:
            return self._stat().get("type") == SHOWN_AS[self._type]
        except OSError:
            return False

    def _stat(self) -> dict[str, str]:
        with Client(self.endpoint, CONNECT_TIMEOUT_S) as client:
            return client.stat()

    def servers(self) -> list[ServerStated]:
        with self.asking():
            stat = self._stat()
        # ttserver shows its type alone; the others are its options, as it was started with them.
        given = {key: value for key, value in self.spec.settings.items() if key in ACCEPTED and key != "connect"}
        effective = {"threads": str(DEFAULT_THREADS)} | given | {"type": stat.get("type", "")}
        effective |= self.endpoint.effective_settings()
        return [{"name": self.server_name, "version": stat.get("version"), "effective_settings": effective}]

    def counters(self) -> dict[str, dict[str, int]]:
        with self.asking():
            return {self.server_name: numbers_of(self._stat(), COUNTERS)}

    def probes(self) -> list[Probe]:
        return [TokyoTyrantProbe(self.server_name, self.endpoint)]

    def data_directories(self) -> tuple[Path, ...]:
        return (self._directory.path,) if self._directory else ()

    def store_plan(self, secrets: list[str]) -> StoreDocument:
        del secrets
        layout = "columns" if self._type == "table" else "value"
        return {"kind": "tokyotyrant", "address": self.endpoint.address(), "layout": layout}

    def durability(self) -> Durability:
        if self._logs:
            return Durability("D0", "update_log=on is written and not flushed: when, the kernel decides")
        return Durability("D0", "ttserver flushes nothing by itself: when, the kernel decides")
