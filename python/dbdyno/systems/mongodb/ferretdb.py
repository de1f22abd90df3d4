"""FerretDB: the MongoDB protocol over SQLite or over its own PostgreSQL, both started privately."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems.base import Durability, Launch
from dbdyno.systems.embedded.sqlite import durability_of
from dbdyno.systems.mongodb.gin import add_gin_from_now_on
from dbdyno.systems.mongodb.mongodb import UNACKNOWLEDGED, MongoServer
from dbdyno.systems.packages.cache import Installation, installed
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.postgresql.postgresql import PostgreSQL
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.kept_data import KeptData
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess
from dbdyno.systems.space import Storage

if TYPE_CHECKING:
    from dbdyno.results.json_types import ServerStated

BACKENDS = ("sqlite", "postgresql")
INDEXES = ("gin", "own")
"""Values of `index`, the default first: FerretDB's own indexes with a GIN index beside each, or alone."""
PRAGMAS = {"synchronous": ("full", "extra", "normal", "off")}
"""Settings over SQLite, SQLite's default first."""
_JOURNAL = {"journal_mode": "wal"}
"""With any other FerretDB 1.24 cannot update: it reads and writes on two connections, and one locks the other out."""
_PACKAGE = PACKAGES["ferretdb@1.24"]
_DATABASE = "dbdyno"


class FerretDB(MongoServer):
    """A private FerretDB. Settings: `backend`, `index` (over PostgreSQL), `write`, `connect`, and those of the backend.

    It has no passwords: whoever gets at its port or socket is let in.
    """

    name = "ferretdb"
    what = "FerretDB, documents in SQLite or PostgreSQL (backend=…, with its settings; write=unacknowledged)"
    own_settings: ClassVar[tuple[str, ...]] = ("backend", "index", "write", "connect")
    storage: ClassVar[Storage] = Storage(1.8, 40)
    package = _PACKAGE.name
    can_keep = True

    def __init__(self, spec: SystemSpec) -> None:
        super().__init__(spec)
        self.check_choice("backend", BACKENDS)
        self.check_choice("index", INDEXES)
        if "tls" in spec.settings:
            raise UserError(f"{spec.label}: neither its port nor its backend is reached by TLS: leave 'tls' out")
        backend = spec.settings.get("backend", BACKENDS[0])
        others = {key: value for key, value in spec.settings.items() if key not in self.own_settings}
        self.backend: PostgreSQL | None = None
        if backend == "postgresql":
            self.backend = PostgreSQL(SystemSpec("postgresql", others, label=spec.label))
            return
        if "index" in spec.settings:
            raise UserError(f"{spec.label}: over SQLite FerretDB uses no index: leave 'index' out")
        for key in others:
            if key not in PRAGMAS:
                raise UserError(
                    f"{spec.label}: over SQLite there is no setting '{key}'; there are {', '.join(PRAGMAS)}"
                )
            self.check_choice(key, PRAGMAS[key])

    @classmethod
    def missing(cls) -> str | None:
        if installed(_PACKAGE):
            return None
        return "ferretdb is not installed: dbdyno systems install ferretdb (built by go)"

    def installation(self) -> Installation | None:
        return installed(_PACKAGE)

    def start(self, launch: Launch) -> None:
        if self.backend:
            if reason := PostgreSQL.missing():
                raise UserError(f"{self.spec.label}: {reason}")
            self.backend.start(replace(launch, data=None))
            if self._index == INDEXES[0]:
                with self.backend.asking():
                    add_gin_from_now_on(self.backend.endpoint)
        self._directory = directory = PrivateDirectory(launch)
        port = self.new_port()
        socket = directory.socket_path() if self.on_socket else None
        configuration = {
            "Listener": {"Unix": str(socket)} if socket else {"TCP": f"127.0.0.1:{port}"},
            "Handler": "postgresql" if self.backend else "sqlite",
            **self._backend_configuration(),
        }
        self._server = ServerProcess(
            self.server_name, self.program("ferretdb"), directory, launch, json.dumps(configuration)
        )
        self.endpoint = Endpoint("127.0.0.1", port, str(socket) if socket else None, database=_DATABASE)
        # It has its backend before it listens.
        self._server.wait_ready(self.listens)

    def _backend_configuration(self) -> dict[str, str]:
        """Return the part of the configuration that says where data is kept."""
        if self.backend:
            endpoint = self.backend.endpoint
            login = f"{quote(endpoint.user or '')}:{quote(endpoint.password or '')}"
            return {"PostgreSQLURL": f"postgres://{login}@{endpoint.host}:{endpoint.port}/{endpoint.database}"}
        pragmas = "&".join(f"_pragma={key}({value})" for key, value in self._pragmas().items())
        return {"SQLiteURL": f"file:{self.directory.path}/?{pragmas}"}

    @property
    def _index(self) -> str:
        return self.spec.settings.get("index", INDEXES[0])

    def _pragmas(self) -> dict[str, str]:
        return _JOURNAL | {key: self.spec.settings.get(key, values[0]) for key, values in PRAGMAS.items()}

    def stop(self) -> None:
        super().stop()
        if self.backend:
            self.backend.stop()

    @property
    def restorable(self) -> bool:
        return super().restorable and self.backend is None

    def keep(self) -> KeptData:
        kept = super().keep()
        # Made anew by the next server; a copy of it would be in its way.
        (kept.path / "s.sock").unlink(missing_ok=True)
        return kept

    def server_pids(self) -> dict[str, int]:
        return super().server_pids() | (self.backend.server_pids() if self.backend else {})

    def forking(self) -> frozenset[str]:
        return self.backend.forking() if self.backend else frozenset()

    def data_directories(self) -> tuple[Path, ...]:
        return super().data_directories() + (self.backend.data_directories() if self.backend else ())

    def death(self) -> str | None:
        return super().death() or (self.backend.death() if self.backend else None)

    def probes(self) -> list[Probe]:
        return super().probes() + (self.backend.probes() if self.backend else [])

    def counters(self) -> dict[str, dict[str, int]]:
        return super().counters() | (self.backend.counters() if self.backend else {})

    def servers(self) -> list[ServerStated]:
        # It does not know its own version when it is built as a library.
        backend = "postgresql" if self.backend else "sqlite"
        effective = {"backend": backend, **self.endpoint.effective_settings()}
        own: ServerStated = {"name": self.server_name, "version": _PACKAGE.release, "effective_settings": effective}
        if self.backend:
            effective |= {"index": self._index}
            return [own, *self.backend.servers()]
        effective |= self._pragmas()
        # A pragma is its connection's, and FerretDB shows none of them.
        own["not_readable"] = list(self._pragmas())
        return [own]

    def all_settings(self) -> dict[str, dict[str, str]]:
        return super().all_settings() | (self.backend.all_settings() if self.backend else {})

    def durability(self) -> Durability:
        if not self.acknowledges:
            return UNACKNOWLEDGED
        if self.backend:
            return self.backend.durability()
        pragmas = self._pragmas()
        return durability_of(pragmas["journal_mode"], pragmas["synchronous"])
