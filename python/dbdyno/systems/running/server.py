"""The base of the systems that are servers, whether dbdyno starts them or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from socket import AF_INET, AF_UNIX, socket
from typing import TYPE_CHECKING, ClassVar

from dbdyno.errors import BuildReplaced, RunFailed, UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems.base import LOOPBACK, Launch, NamedProcess, System
from dbdyno.systems.builds.build import Build, find_build
from dbdyno.systems.builds.config import Config, read_config
from dbdyno.systems.builds.layout import CONFIG
from dbdyno.systems.packages.cache import Installation, installed
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.kept_data import KeptData
from dbdyno.systems.running.ports import free_port
from dbdyno.systems.running.process import PrivateDirectory, ServerProcess, find_program

if TYPE_CHECKING:
    from dbdyno.results.json_types import OriginStated


class Server(System):
    """A system with one server.

    endpoint: where it answers, once started or attached to.
    build: the one it is started from, if it was named by its path. config: the user's file of settings, if any.
    own_settings: those that are dbdyno's and not the server's. protocol: what it is called in messages.
    driver_modules: those that load its driver; a child process does that before its memory is limited.
    If it can be started again, `start` sets `_run`, and `_answers` says whether it is ready.
    """

    endpoint: Endpoint
    own_settings: ClassVar[tuple[str, ...]] = ()
    protocol: ClassVar[str]
    driver_modules: ClassVar[tuple[str, ...]] = ()

    def __init__(self, spec: SystemSpec) -> None:
        self.config = self._read_config(spec)
        if self.config:
            spec = replace(spec, settings={**self.config.settings, **spec.settings})
        super().__init__(spec)
        self.check_choice("connect", ("tcp", "socket"))
        self.build = self._find_build()
        self._directory: PrivateDirectory | None = None
        self._server: ServerProcess | None = None
        self._run: Callable[[], ServerProcess] | None = None

    @property
    def driver_errors(self) -> tuple[type[Exception], ...]:
        """The errors that its driver raises if it does not answer."""
        return ()

    @property
    def directory(self) -> PrivateDirectory:
        """Its private directory, while it is started."""
        assert self._directory is not None, "not started"
        return self._directory

    @property
    def process(self) -> ServerProcess:
        """Its process, while it is started."""
        assert self._server is not None, "not started"
        return self._server

    @property
    def encrypts(self) -> bool:
        """True if the server is dbdyno's own and clients are to connect with TLS."""
        return self.spec.settings.get("tls") == "on"

    def check_tls(self) -> None:
        """Raise UserError if a private server is given TLS settings that it cannot have."""
        if "tls" in self.spec.settings and "tls" not in self.own_settings:
            raise UserError(f"{self.spec.label}: {self.name} is not driven over TLS: leave 'tls' out")
        self.check_choice("tls", ("off", "on"))
        if self.encrypts and self.on_socket:
            raise UserError(f"{self.spec.label}: TLS is for TCP: leave 'tls' or 'connect' out")

    def check_choice(self, key: str, accepted: tuple[str, ...]) -> None:
        """Raise UserError if the setting `key` is given and is none of `accepted`."""
        value = self.spec.settings.get(key, accepted[0])
        if value not in accepted:
            raise UserError(f"{self.spec.label}: {key} = '{value}': give one of {', '.join(accepted)}")

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Turn what the driver raises inside into RunFailed: a server that answered before does not answer now."""
        try:
            yield
        except self.driver_errors as error:
            raise RunFailed(f"{self.spec.label}: {self.server_name} does not answer: {error}") from None

    def start(self, launch: Launch) -> None:
        """Start it; a server that is attached to has `attach` instead."""
        raise NotImplementedError(f"{self.name} is attached to, not started")

    @staticmethod
    def missing_driver() -> str | None:
        """Return that the driver is not installed and how to get it, or None; most come with dbdyno."""
        return None

    def attach(self) -> None:
        """Connect for the first time to a server that somebody else runs (dbdyno.systems.foreign_server has it called).

        Raises Unreached if nothing answers in the protocol, UserError if the server refuses.
        """
        raise NotImplementedError(f"{self.name} is started, not attached to")

    def listens(self) -> bool:
        """Return whether connections are taken at the endpoint: some drivers need half a second to find that out."""
        endpoint = self.endpoint
        family, address = (AF_UNIX, endpoint.socket) if endpoint.socket else (AF_INET, (endpoint.host, endpoint.port))
        with socket(family) as probe:
            probe.settimeout(1)
            return probe.connect_ex(address) == 0

    def _read_config(self, spec: SystemSpec) -> Config | None:
        """Return the configuration file that a configuration names; its settings give way to those named there."""
        if self.layout is None or spec.url or (path := spec.settings.get(CONFIG)) is None:
            return None
        if self.layout.config is None:
            raise UserError(f"{spec.label}: dbdyno reads no configuration file of {self.name}: give its settings here")
        return read_config(spec.label, path, self.layout.config, self.reserved)

    def _find_build(self) -> Build | None:
        """Return the build that a configuration names by its path; raises UserError if it cannot be started."""
        if self.layout is None or (path := self.path_of(self.spec)) is None:
            return None
        if self.spec.version:
            raise UserError(f"{self.spec.label}: {self.spec.product} is a version and {path} a build: give one of them")
        return find_build(self.spec.label, self.layout, path)

    @property
    def server_settings(self) -> dict[str, str]:
        """The settings that go to the server, as they were given."""
        dbdynos = {*self.own_settings, *(self.layout.settings if self.layout else ())}
        return {key: value for key, value in self.spec.settings.items() if key not in dbdynos}

    def installation(self) -> Build | Installation | None:
        """Return where the build or the version asked for is, or None if the host's own is meant."""
        if self.build:
            return self.build
        return installed(PACKAGES[self.spec.product]) if self.spec.version else None

    @property
    def is_not_the_hosts(self) -> bool:
        """True if a version or a build was given: the host's packages add nothing to it."""
        return bool(self.spec.version or self.build)

    def program(self, name: str) -> list[str]:
        """Return the beginning of the command line that runs a program of this system."""
        there = self.installation()
        return there.program(name) if there else [find_program(name) or name]

    def new_port(self, address: str = LOOPBACK) -> int:
        """Return the port that the server is to listen at, on one of this host's addresses."""
        return free_port(address)

    @property
    def on_socket(self) -> bool:
        """True if clients are to connect by the Unix socket."""
        return self.spec.settings.get("connect") == "socket"

    def stop(self) -> None:
        if self._server:
            self._server.stop()
            self._server = None
        if self._directory:
            self._directory.remove()
            self._directory = None

    @property
    def restorable(self) -> bool:
        """Return whether it can be kept: no setting puts a file outside of the private directory, which is copied."""
        return (
            self.can_keep
            and not self.spec.attached
            and not any(value.startswith("/") for value in self.server_settings.values())
        )

    def restart(self) -> None:
        self.process.stop_in_order()
        self.start_again()

    def kill(self) -> None:
        self.process.kill()

    def start_again(self) -> None:
        if reason := self.replaced():
            raise BuildReplaced(reason)
        assert self._run is not None, "only what was started is started again"
        self._server = self._run()
        self._server.wait_ready(self._answers)

    def _answers(self) -> bool:
        """Return whether it is ready, which its start waits for."""
        raise NotImplementedError(f"{self.name} is not started again")

    def keep(self) -> KeptData:
        self.process.stop_in_order()
        directory, self._server, self._directory = self.directory, None, None
        return KeptData(directory.path)

    def started_with(self) -> dict[str, list[str]]:
        if not self._server:
            return {}
        private = {str(self.directory.path): "DIR", str(self.endpoint.port): "PORT"}
        if self.endpoint.password:
            private[self.endpoint.password] = "…"
        return {self.server_name: self._server.started_with(private)}

    def data_directories(self) -> tuple[Path, ...]:
        return (self._directory.path,) if self._directory else ()

    def server_pids(self) -> dict[str, int]:
        return {self.server_name: self._server.pid} if self._server else {}

    def named_processes(self) -> dict[str, NamedProcess]:
        pid = self.spec.url.pid if self.spec.url else None
        if pid is None:
            return {}
        address = None if self.endpoint.socket else (self.endpoint.host, self.endpoint.port)
        return {self.server_name: NamedProcess(pid, address, self.endpoint.socket)}

    def addresses(self) -> dict[str, tuple[str, int]]:
        return {} if self.endpoint.socket else {self.server_name: (self.endpoint.host, self.endpoint.port)}

    def sockets(self) -> dict[str, str]:
        return {self.server_name: self.endpoint.socket} if self.endpoint.socket else {}

    def origins(self) -> dict[str, OriginStated]:
        origin: OriginStated = {}
        if self.build:
            origin["build"] = self.build.describe()
        if self.config:
            origin["config"] = self.config.describe()
        return {self.server_name: origin}

    def death(self) -> str | None:
        if self._server is None:
            return None
        return self._server.death() or self.replaced()

    def replaced(self) -> str | None:
        return self.build.replaced() if self.build else None

    def login(self, folder: Path) -> dict[str, str]:
        endpoint = self.endpoint
        address = (
            {"DBDYNO_SOCKET": endpoint.socket}
            if endpoint.socket
            else {"DBDYNO_HOST": endpoint.host, "DBDYNO_PORT": str(endpoint.port)}
        )
        account = {"DBDYNO_USER": endpoint.user or "", "DBDYNO_DATABASE": endpoint.database}
        known = {key: value for key, value in account.items() if value}
        if endpoint.password:
            known["DBDYNO_PASSWORD_FILE"] = str(private_file(folder / "password", endpoint.password))
        return super().login(folder) | address | known


def private_file(path: Path, text: str) -> Path:
    """Write a file that only the user can read, and return its path."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path
