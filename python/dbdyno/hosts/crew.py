"""The hosts of a run, as the conductor sees them: a dask scheduler that workers join, and nothing else runs on it."""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.hosts import CONDUCTOR, Hosts, host_and_port
from dbdyno.hosts.certificates import Certificates, certificates_folder
from dbdyno.hosts.channel import Message
from dbdyno.hosts.programs import programs, why_different
from dbdyno.hosts.settings import SETTINGS, need_dask, security_of
from dbdyno.hosts.worker import INFORMATION

POLL_S = 0.1
CLIENT, SERVER = "client", "server"


@dataclass(frozen=True)
class Member:
    """A host that has joined.

    hostname: what its kernel calls it. host, port: where its agent listens. open_files: the most that a process there
    may have, None for any number. ports: for connections to one server. memory_bytes: that were free when it joined.
    machine: the same for hosts that share a kernel.
    """

    name: str
    hostname: str
    host: str
    port: int
    processors: int
    role: str = CLIENT
    open_files: int | None = None
    ports: int = 1 << 16
    memory_bytes: int = 1 << 62
    machine: str = ""


class Crew:
    """The other hosts of a run, as a context manager for its time. lost: those that a trial has lost so far."""

    def __init__(self, hosts: Hosts, program: Path) -> None:
        """Take the hosts and this host's dbdyno-load; raises UserError if dask or a certificate is not there."""
        need_dask()
        folder = Path(hosts.certificates).expanduser() if hosts.certificates else certificates_folder()
        self._hosts, self._certificates = hosts, Certificates.of(folder, CONDUCTOR)
        self.context = self._certificates.context(ssl.Purpose.SERVER_AUTH)
        self._programs = programs(program)
        self._roles = dict.fromkeys(hosts.client, CLIENT) | dict.fromkeys(hosts.server, SERVER)
        self._closing = ExitStack()
        self.lost: set[str] = set()
        self.link_seconds = hosts.link_seconds

    def __enter__(self) -> Crew:
        """Listen; raises UserError if that address is not this host's, or is taken."""
        import dask  # noqa: PLC0415
        from distributed import SpecCluster  # noqa: PLC0415

        from dbdyno.hosts.scheduler import RunScheduler  # noqa: PLC0415

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._closing.enter_context(dask.config.set(SETTINGS))
        host, port = host_and_port(self._hosts.address)
        security = security_of(self._certificates)
        options = {"host": host, "port": port, "protocol": "tls", "dashboard": False, "security": security}
        try:
            self._cluster = self._closing.enter_context(
                SpecCluster(  # type: ignore[no-untyped-call]
                    workers={},
                    scheduler={"cls": RunScheduler, "options": options},
                    security=security,
                    scheduler_sync_interval="60s",
                )
            )
        except (OSError, RuntimeError) as error:
            self._closing.close()
            cause = error.__cause__ or error
            raise UserError(f"hosts.address: cannot listen at {self._hosts.address}: {cause}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def wait(self, interrupted: Callable[[], bool]) -> list[Member]:
        """Return all hosts once they are there.

        Raises UserError if one does not come in time, or differs; KeyboardInterrupt if the run is interrupted.
        """
        members = self._wait(interrupted, list(self._roles))
        if missing := [name for name in self._roles if name not in members]:
            role = self._roles[missing[0]]
            command = f"dbdyno worker {self._hosts.address} --name {missing[0]} --role {role}"
            raise UserError(
                f"hosts.{role}: {', '.join(missing)} did not join within {self._hosts.wait_seconds} s; run there: "
                f"{command}"
            )
        return list(members.values())

    def ready(self, interrupted: Callable[[], bool]) -> list[Member]:
        """Return the client hosts of the next trial, in the order of the experiment.

        Raises RunFailed if the run cannot go on, KeyboardInterrupt as `wait`.
        """
        wanted = [name for name in self._hosts.client if self._hosts.if_lost == "wait" or name not in self.lost]
        members = self._wait(interrupted, wanted)
        if not wanted:
            raise RunFailed("every client host was lost")
        self._refuse_missing(wanted, members)
        return [members[name] for name in wanted]

    def server(self, name: str, interrupted: Callable[[], bool]) -> Member:
        """Return a server host; raises as `ready` does."""
        members = self._wait(interrupted, [name])
        self._refuse_missing([name], members)
        return members[name]

    def _refuse_missing(self, wanted: Sequence[str], members: Mapping[str, Member]) -> None:
        if missing := [name for name in wanted if name not in members]:
            raise RunFailed(f"{', '.join(missing)} did not come back within {self._hosts.wait_seconds} s")

    def _wait(self, interrupted: Callable[[], bool], names: Sequence[str]) -> dict[str, Member]:
        """Return the hosts that are there, by name, as soon as all that are wanted are, or when time is up."""
        until = time.monotonic() + self._hosts.wait_seconds
        while True:
            members = self._members()
            if all(name in members for name in names) or time.monotonic() > until:
                return {name: members[name] for name in names if name in members}
            if interrupted():
                raise KeyboardInterrupt
            time.sleep(POLL_S)

    def _members(self) -> dict[str, Member]:
        """Return who has joined; raises UserError if one has another version of anything, or another role."""
        members = {}
        # The scheduler lives on its own thread and may change the mapping meanwhile.
        for worker in list(self._cluster.scheduler.workers.values()):
            information = worker.extra.get(INFORMATION)
            if worker.name in self._roles and worker.status.name == "running" and information:
                members[worker.name] = self._member(worker.name, information)
        return members

    def _member(self, name: str, information: Message) -> Member:
        if reason := why_different(name, information["programs"], self._programs):
            raise UserError(f"hosts: {reason}")
        if information["role"] != self._roles[name]:
            raise UserError(f"hosts.{self._roles[name]}: {name} was started with --role {information['role']}")
        keys = ("hostname", "host", "port", "processors", "role", "open_files", "ports", "memory_bytes", "machine")
        return Member(name, **{key: information[key] for key in keys})
