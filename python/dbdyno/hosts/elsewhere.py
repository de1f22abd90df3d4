"""A private system whose server runs on another host, as the conductor has it.

The conductor itself speaks the server's protocol. A keeper on that host handles its process, its files and its host
(`dbdyno.hosts.keeper`).
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from dbdyno.errors import DbdynoError, RunFailed
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.hosts.channel import Lost, Message, connect
from dbdyno.hosts.clocks import Reading, compare
from dbdyno.hosts.crew import Crew, Member
from dbdyno.hosts.launch_message import message_of_launch
from dbdyno.hosts.line import Line
from dbdyno.hosts.spec_message import message_of
from dbdyno.observe.observer import Rows
from dbdyno.results.observations import LINES
from dbdyno.results.samples import AT
from dbdyno.systems.arrangements.galera import Node, Place
from dbdyno.systems.base import Launch, System
from dbdyno.systems.probe import Probe
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.kept_data import KeptData
from dbdyno.systems.running.pooler import Pooler
from dbdyno.systems.running.server import Server

_LOG = re.compile(r"server-[A-Za-z0-9._-]+\.log")


@dataclass(frozen=True)
class Post:
    """The place of a server: the host's name, and which of the `private_servers` of which system it is there."""

    crew: Crew
    host: str
    system: SystemSpec
    number: int


@dataclass(frozen=True)
class KeptElsewhere(KeptData):
    """Loaded data on another host. line: to the keeper that holds it, whose guards remove it in the end."""

    line: Line

    def is_there(self) -> bool:
        return self.line.lost is None

    def has_room(self) -> bool:
        has_room: bool = self.line.call("has_room")
        return has_room

    def remove(self) -> None:
        self.line.close()


class Elsewhere(Server):
    """The part that is the same for every kind of system; `assign` mixes it in."""

    post: Post
    _line: Line | None = None
    _launch: Launch
    _state: Message | None = None
    _death: str | None = None
    _observations: Rows | None = None
    _before: Reading | None = None

    def start(self, launch: Launch) -> None:
        if self._line is None or self._state is not None:
            self.reach(launch)
        self._learn(self.line.call("start", launch=message_of_launch(launch)))

    def reach(self, launch: Launch) -> None:
        """Have a keeper on its host make it, not started yet; raises UserError if that lacks something for it."""
        self.stop()
        self._launch, self._death = launch, None
        post = self.post
        self._line = Line(post.crew.server(post.host, lambda: False), post.crew.context, self._take)
        self._line.call("make", system=message_of(post.system), number=post.number)

    def _learn(self, state: Message) -> None:
        self._state, self.endpoint = state, Endpoint(**state["endpoint"])

    def stop(self) -> None:
        if self._line is None:
            return
        line, self._line, self._state = self._line, None, None
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

    def keep(self) -> KeptElsewhere:
        kept = KeptElsewhere(Path(self.line.call("keep")), self.line)
        # The next start has a keeper of its own: this one holds the data until the run needs it no more.
        self._line, self._state = None, None
        return kept

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
        return dict(self._state["pids"]) if self._state else {}

    def forking(self) -> frozenset[str]:
        return frozenset(self._state["forking"]) if self._state else frozenset()

    def started_with(self) -> dict[str, list[str]]:
        return dict(self._state["started_with"]) if self._state else {}

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
        member, context = self.member, self.post.crew.context

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
    def observed(self, rows: Rows) -> Iterator[None]:
        """Hand on what is observed there meanwhile, with the times of this host's clock, and close `rows`."""
        self._observations = rows
        try:
            yield
        finally:
            self._observations = None
            rows.close()

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


class ElsewhereNode(Elsewhere):
    """A node of Galera on another host, which finds its ports there."""

    def find_place(self, launch: Launch) -> Place:
        self.reach(launch)
        return Place(**self.line.call("find_place"))

    def join(self, places: Sequence[Place], password: str) -> None:
        self.line.call("join", places=[asdict(node) for node in places], password=password)


class ElsewherePooler(Elsewhere):
    """A pooler on another host, which begins when the server behind it is there."""

    console: Endpoint

    def serve(self, behind: Endpoint, launch: Launch) -> None:
        self.reach(launch)
        self._learn(self.line.call("serve", behind=asdict(behind), launch=message_of_launch(launch)))

    def _learn(self, state: Message) -> None:
        super()._learn(state)
        self.console = Endpoint(**state["console"])


def described(
    crew: Crew, member: Member, systems: Sequence[tuple[SystemSpec, int]], memory_limit_bytes: int | None
) -> Message:
    """Return what a server host lacks for its servers, and what room it has; raises RunFailed if it is gone.

    systems: whose servers it starts, and the number of the one (`System.private_servers`).
    """
    line = Line(member, crew.context, lambda message: None)
    asked = [{"system": message_of(spec), "number": number} for spec, number in systems]
    try:
        return dict(line.call("describe", systems=asked, memory_limit_bytes=memory_limit_bytes))
    finally:
        line.close()


def _mixin_for(server: System) -> type[Elsewhere]:
    """Return what is mixed into a server: some start in another way than most."""
    if isinstance(server, Node):
        return ElsewhereNode
    return ElsewherePooler if isinstance(server, Pooler) else Elsewhere


def assign(system: System, crew: Crew, hosts: Sequence[str]) -> None:
    """Put the servers of a system, which was not started, on hosts: each on the next one.

    An arrangement knows its servers by several names, so they stay the same objects.
    """
    for number, (server, host) in enumerate(zip(system.private_servers(), hosts, strict=False)):
        kind = type(server)
        there: type[System] = type(kind.__name__, (_mixin_for(server), kind), {"__doc__": kind.__doc__})
        vars(server)["post"] = Post(crew, host, system.spec, number)
        server.__class__ = there


def hosted(system: System) -> list[Elsewhere]:
    """Return the servers of a system that run on other hosts."""
    return [server for server in system.private_servers() if isinstance(server, Elsewhere)]


def settle(system: System) -> None:
    """Wait until each host of a system's servers has answered, or is known to be lost.

    A host that is lost closes the connections of its servers before it is missed: what failed by that is explained only
    then.
    """
    for server in hosted(system):
        with suppress(DbdynoError):
            server.line.call("data_bytes")
