"""A private system whose server runs on another host, as the conductor has it.

The conductor itself speaks the server's protocol. A keeper on that host handles its process, its files and its host
(`dbdyno.hosts.keeper`).
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dbdyno.errors import DbdynoError, RunFailed
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.hosts.channel import Lost, Message, connect
from dbdyno.hosts.clocks import Reading, compare
from dbdyno.hosts.crew import Crew, Member
from dbdyno.hosts.line import Line
from dbdyno.results.observations import LINES
from dbdyno.results.samples import AT
from dbdyno.results.write import Lines
from dbdyno.systems.base import Launch, System
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.server import Server

_LOG = re.compile(r"server-[A-Za-z0-9._-]+\.log")


class Elsewhere(Server):
    """The part that is the same for every kind of system; `placed` mixes it in."""

    _crew: Crew
    _line: Line | None = None
    _launch: Launch
    _state: Message
    _death: str | None = None
    _observations: Lines | None = None
    _before: Reading | None = None

    def start(self, launch: Launch) -> None:
        self.stop()
        self._launch, self._death = launch, None
        self._line = Line(self._crew.server(lambda: False), self._crew.context, self._take)
        limits = {key: getattr(launch, key) for key in ("clients", "rows", "memory_limit_bytes", "answer_timeout_s")}
        cpus = list(launch.server_cpus) if launch.server_cpus else None
        self._learn(self._line.call("start", system=written(self.spec), launch=limits | {"server_cpus": cpus}))

    def _learn(self, state: Message) -> None:
        self._state, self.endpoint = state, Endpoint(**state["endpoint"])

    def stop(self) -> None:
        if self._line is None:
            return
        line, self._line = self._line, None
        try:
            if not line.lost and not line.waits:
                with suppress(DbdynoError):
                    line.call("stop")
        finally:
            line.close()

    @property
    def line(self) -> Line:
        """The connection to its host; raises RunFailed if it was not started."""
        if self._line is None:
            raise RunFailed(f"{self.spec.label}: it was not started")
        return self._line

    @property
    def member(self) -> Member:
        """The host it runs on."""
        return self.line.member

    @property
    def restorable(self) -> bool:
        # The kept data would have to be copied there.
        return False

    def restart(self) -> None:
        self._learn(self.line.call("restart"))

    def kill(self) -> None:
        self._learn(self.line.call("kill"))

    def start_again(self) -> None:
        self._learn(self.line.call("start_again"))

    def repair(self) -> str | None:
        command: str | None = self.line.call("repair")
        return command

    def server_pids(self) -> dict[str, int]:
        return dict(self._state["pids"]) if self._line else {}

    def forking(self) -> frozenset[str]:
        return frozenset(self._state["forking"])

    def started_with(self) -> dict[str, list[str]]:
        return dict(self._state["started_with"])

    def data_directories(self) -> tuple[Path, ...]:
        return ()

    def data_bytes(self) -> int | None:
        try:
            size_bytes: int | None = self.line.call("data_bytes")
        except RunFailed:
            return None
        return size_bytes

    def probes(self) -> list[Probe]:
        return []

    def death(self) -> str | None:
        if self._line is None:
            return None
        name = self._line.member.name
        if self._line.lost:
            return f"host {name}: {self._line.lost}"
        return f"host {name}: {self._death}" if self._death else None

    def compare_clocks(self) -> Reading:
        """Return how its host's clock stands against this one; raises RunFailed if it is not there."""
        member, context = self.member, self._crew.context

        async def ask() -> Reading:
            channel = await connect(member.host, member.port, context, member.name)
            try:
                return await compare(channel)
            finally:
                await channel.close()

        try:
            self._before = asyncio.run(ask())
        except Lost as lost:
            raise RunFailed(f"host {member.name}: {lost}") from None
        return self._before

    @contextmanager
    def observed(self, folder: Path) -> Iterator[None]:
        """Write what is observed there into `folder` meanwhile, with the times of this host's clock."""
        self._observations = Lines(folder / LINES)
        try:
            yield
        finally:
            lines, self._observations = self._observations, None
            lines.close()

    def _take(self, message: Message) -> None:
        """Take what the keeper says unasked."""
        if "death" in message:
            self._death = message["death"]
        elif message.get("file") == LINES:
            for line in message["text"].splitlines():
                if observations := self._observations:
                    observations.append_object(self._in_our_time(json.loads(line)))
        elif _LOG.fullmatch(name := str(message.get("file", ""))):
            with (self._launch.log_folder / name).open("a") as log:
                log.write(message["text"])

    def _in_our_time(self, row: Mapping[str, float]) -> Mapping[str, float]:
        offset_s = self._before.offset_s if self._before else 0.0
        return {**row, AT: round(row[AT] - offset_s, 3)}


class ElsewhereObserver:
    """Observes a trial on the server's host, as `dbdyno.observe.observer.Observer` does on this one."""

    def __init__(self, system: Elsewhere, folder: Path) -> None:
        """Have it connect there, and look what can be seen."""
        self._system, self._folder = system, folder
        self.not_seen: dict[str, str] = {}
        self.cpu_s = 0.0
        # A host that is lost makes the trial invalid, and not the observer.
        try:
            self._learn(system.line.call("observe"))
        except RunFailed as error:
            self.not_seen["host"] = str(error)

    @contextmanager
    def watching(self, client_pid: int | None, client_forks: bool) -> Iterator[None]:
        """Observe meanwhile; the load client is on another host."""
        del client_pid, client_forks
        with self._system.observed(self._folder):
            try:
                with suppress(RunFailed):
                    self._system.line.call("watch")
                yield
            finally:
                with suppress(RunFailed):
                    self._learn(self._system.line.call("unwatch"))

    def stop(self) -> None:
        """Do nothing: what was observed is here."""

    def _learn(self, seen: Message) -> None:
        self.not_seen, self.cpu_s = dict(seen["not_seen"]), float(seen["cpu_s"])


def described(crew: Crew, member: Member, systems: Sequence[Message], memory_limit_bytes: int | None) -> Message:
    """Return what the server host lacks for some systems, and what room it has; raises RunFailed if it is gone."""
    line = Line(member, crew.context, lambda message: None)
    try:
        return dict(line.call("describe", systems=systems, memory_limit_bytes=memory_limit_bytes))
    finally:
        line.close()


def written(spec: SystemSpec) -> Message:
    """Return a system without parts as a keeper reads it."""
    return {"name": spec.name, "version": spec.version, "settings": dict(spec.settings), "label": spec.label}


def placed(system: System, crew: Crew) -> System:
    """Return a system that was not started, with its server on the run's server host; one by URL stays what it is."""
    if system.spec.url is not None:
        return system
    kind = type(system)
    there: type[System] = type(kind.__name__, (Elsewhere, kind), {"__doc__": kind.__doc__})
    moved = System.__new__(there)
    vars(moved).update(vars(system), _crew=crew)
    return moved
