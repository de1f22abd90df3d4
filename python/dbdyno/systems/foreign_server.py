"""Somebody else's server, asked in a child process: whatever it answers is bounded, and what came instead is said."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.base import Durability, Launch
from dbdyno.systems.probe import Probe, Waits, shortest_s
from dbdyno.systems.running.child import Child, Unbounded
from dbdyno.systems.running.endpoint import CONNECT_TIMEOUT_S, Unreached
from dbdyno.systems.running.greeting import came_instead
from dbdyno.systems.running.server import Server

if TYPE_CHECKING:
    from dbdyno.results.json_types import ServerStated

LOGIN_TIMEOUT_S = CONNECT_TIMEOUT_S + 2
"""For all of a login: nobody waits longer to be told that the port is wrong."""
QUESTIONS, PROBE = 0, 1
"""Lines to the child: a probe is asked while a trial runs, on its own thread."""


class Asked:
    """The child process's part: the system, and its probes once the first is needed."""

    def __init__(self, system: Server) -> None:
        self._system = system
        self._probes: list[Probe] = []

    def attach(self) -> dict[str, Any]:
        """Attach, and return the system's attributes as they are then."""
        self._system.attach()
        return vars(self._system)

    def ask(self, verb: str) -> Any:
        """Return what the system's method returns."""
        return getattr(self._system, verb)()

    def open_probe(self, number: int) -> tuple[Mapping[str, str], int | None, float]:
        """Open a probe, and return what is known of it then: not_shown, answered_by and round_trip_s."""
        self._probes = self._probes or self._system.probes()
        probe = self._probes[number]
        probe.open()
        return probe.not_shown, probe.answered_by, probe.round_trip_s

    def ask_probe(self, number: int, verb: str) -> Any:
        """Return what the probe's method returns, of one that is open."""
        return getattr(self._probes[number], verb)()

    def nothing(self) -> None:
        """Answer at once: what the way to the child takes."""


class Attached(Server):
    """A system that is attached to, as dbdyno has it: another of its kind does its work in a child process.

    asked_kind: the class of the system in the child, whose `attach` connects for the first time.
    """

    asked_kind: ClassVar[type[Server]]
    _child: Child | None = None

    def start(self, launch: Launch) -> None:
        self.stop()
        if reason := self.missing_driver():
            raise UserError(f"{self.spec.label}: {reason}")
        system = self.asked_kind.__new__(self.asked_kind)
        vars(system).update({key: value for key, value in vars(self).items() if key not in ("_child", "_end_child")})
        self._child = child = Child(Asked(system), launch.answer_timeout_s, self.driver_modules, lines=2)
        launch.guard.tell("pid", child.pid)
        self._end_child = partial(_end, child, launch)
        try:
            vars(self).update(child.call("attach", timeout_s=min(launch.answer_timeout_s, LOGIN_TIMEOUT_S)))
        except (Unreached, RunFailed) as error:
            raise UserError(f"{self.spec.label}: {self._why(error)}") from None

    def _why(self, error: Exception) -> str:
        endpoint = self.endpoint
        try:
            instead = came_instead(endpoint, self.protocol)
        except OSError:
            return f"no server answers there ({error}); check host, port and that the server runs"
        if instead:
            return f"{endpoint} {instead}"
        return f"{endpoint} begins to speak {self.protocol}, then breaks the protocol: {error}"

    def stop(self) -> None:
        if self._child:
            self._end_child()
            self._child = None

    def _ask(self, verb: str) -> Any:
        try:
            return self._started_child().call("ask", verb)
        except Unbounded as error:
            raise RunFailed(f"{self.spec.label}: {self.server_name} does not answer: {error}") from None

    def _started_child(self) -> Child:
        assert self._child is not None, "not attached to"
        return self._child

    def servers(self) -> list[ServerStated]:
        servers: list[ServerStated] = self._ask("servers")
        return servers

    def all_settings(self) -> dict[str, dict[str, str]]:
        settings: dict[str, dict[str, str]] = self._ask("all_settings")
        return settings

    def durability(self) -> Durability:
        durability: Durability = self._ask("durability")
        return durability

    def cautions(self) -> list[str]:
        cautions: list[str] = self._ask("cautions")
        return cautions

    def counters(self) -> dict[str, dict[str, int]]:
        counters: dict[str, dict[str, int]] = self._ask("counters")
        return counters

    def probes(self) -> list[Probe]:
        names = [probe.server for probe in super().probes()]
        return [AttachedProbe(name, self._started_child(), number) for number, name in enumerate(names)]


def _end(child: Child, launch: Launch) -> None:
    child.end()
    launch.guard.tell("done", child.pid)


class AttachedProbe(Probe):
    """A probe that asks in the child process of its system."""

    def __init__(self, server: str, child: Child, number: int) -> None:
        super().__init__(server)
        self._child, self._number = child, number

    def open(self) -> None:
        self.not_shown, self.answered_by, theirs_s = self._call("open_probe", self._number)
        self.round_trip_s = theirs_s + shortest_s(partial(self._call, "nothing"))

    def counters(self) -> dict[str, float]:
        counters: dict[str, float] = self._ask("counters")
        return counters

    def waits(self) -> Waits | None:
        waits: Waits | None = self._ask("waits")
        return waits

    def locks(self) -> Mapping[str, float]:
        locks: Mapping[str, float] = self._ask("locks")
        return locks

    def known_locks(self) -> Mapping[str, float] | None:
        locks: Mapping[str, float] | None = self._ask("known_locks")
        return locks

    def close(self) -> None:
        # After the child was ended there is nothing to close.
        try:
            self._ask("close")
        except RunFailed:
            return

    def _ask(self, verb: str) -> Any:
        return self._call("ask_probe", self._number, verb)

    def _call(self, verb: str, *arguments: Any) -> Any:
        try:
            return self._child.call(verb, *arguments, line=PROBE)
        except Unbounded as error:
            raise RunFailed(f"{self.server} does not show its figures: {error}") from None


def asked_in_child(kind: type[Server]) -> type[Server]:
    """Return the class of a system that is attached to, asked in a child process."""
    return type(kind.__name__, (Attached, kind), {"asked_kind": kind, "__doc__": kind.__doc__})
