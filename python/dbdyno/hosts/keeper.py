"""The keeper of a server host: `python -m dbdyno.hosts.keeper`, started by the agent for one system of a run.

It starts, guards, observes and stops the system as dbdyno does on one host. It takes calls as JSON lines on standard
input and answers on standard output. If it is killed, its guards stop the server and remove what was made.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from dbdyno.errors import DbdynoError, RunFailed, UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.hosts.channel import Message
from dbdyno.hosts.launch_message import launch_of
from dbdyno.hosts.recorder import Recorder
from dbdyno.hosts.spec_message import spec_of
from dbdyno.observe.delay_accounting import account_delays
from dbdyno.observe.observer import Observed, Observer
from dbdyno.observe.room import free_room
from dbdyno.observe.stacks.permission import not_seen
from dbdyno.results.observations import LINES
from dbdyno.systems import build, missing
from dbdyno.systems.arrangements.galera import Node, Place, new_place
from dbdyno.systems.base import Launch
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.running.guard import Guard
from dbdyno.systems.running.kept_data import KeptData
from dbdyno.systems.running.pooler import Pooler
from dbdyno.systems.running.server import Server

TELL_S = 0.2
"""From one look at the server and at what was written to the next."""
MOST_BYTES = 1 << 20
"""The bytes of a file that one answer has."""


class Tails:
    """Files that grow, told line by line."""

    def __init__(self) -> None:
        self._names: dict[Path, str] = {}
        self._told: dict[Path, int] = {}

    def follow(self, path: Path, name: str) -> None:
        """Tell of a file from now on, under a name; it may come later."""
        self._names[path] = name

    def grown(self) -> list[Message]:
        """Return the whole lines that came since the last time."""
        return [message for path, name in list(self._names.items()) if (message := self._grown(path, name))]

    def _grown(self, path: Path, name: str) -> Message | None:
        try:
            with path.open("rb") as file:
                file.seek(self._told.get(path, 0))
                chunk = file.read(MOST_BYTES)
        except FileNotFoundError:
            return None
        # A line longer than that is cut.
        size = len(chunk) if len(chunk) == MOST_BYTES and b"\n" not in chunk else chunk.rfind(b"\n") + 1
        self._told[path] = self._told.get(path, 0) + size
        return {"file": name, "text": chunk[:size].decode(errors="replace")} if size else None


class Keeper:
    """One system on this host. address: at which its server listens. folder: for logs and what is observed."""

    def __init__(self, address: str, guard: Guard, folder: Path) -> None:
        self._address, self._guard, self._folder = address, guard, folder
        self._system: Server | None = None
        self._observer: Observer | None = None
        self._watching: AbstractContextManager[None] | None = None
        self._observed = 0
        self._pinned: Mapping[str, Sequence[int]] = {}
        self._kept: KeptData | None = None
        self._recorder: Recorder | None = None
        self.tails = Tails()

    @property
    def system(self) -> Server:
        """The system; raises UserError if none was started."""
        if self._system is None:
            raise UserError("no system was started")
        return self._system

    def death(self) -> str | None:
        """Return how the server ended that should be running, or None."""
        return self._system.death() if self._system else None

    def answer(self, call: str, arguments: Message) -> Any:
        """Return the answer to a call; raises DbdynoError."""
        calls: Mapping[str, Callable[..., Any]] = {
            "describe": _describe,
            "make": self._make,
            "find_place": lambda: asdict(new_place(self._address)),
            "join": self._join,
            "start": self._start,
            "serve": self._serve,
            "restart": lambda: self._moved(self.system.restart),
            "kill": lambda: self._moved(self.system.kill),
            "start_again": lambda: self._moved(self.system.start_again),
            "repair": self._repair,
            "keep": self._keep,
            "has_room": self._has_room,
            "data_bytes": self._data_bytes,
            "observe": self._observe,
            "watch": self._watch,
            "unwatch": self._unwatch,
            "stacks_not_seen": not_seen,
            "record_stacks": self._record_stacks,
            "stacks_are_over": self._stacks_are_over,
            "end_stacks": self._end_stacks,
            "read_stack": self._read_stack,
            "close_stacks": self._close_stacks,
            "stop": self.stop,
        }
        if call not in calls:
            raise UserError(f"there is no call '{call}'")
        return calls[call](**arguments)

    def _repair(self) -> str | None:
        return self.system.repair()

    def _keep(self) -> str:
        """Stop the system and return where its data lies on this host, which the guards remove in the end."""
        if not self.system.restorable:
            raise UserError(f"{self.system.spec.label}: it cannot start again from its data")
        self._kept = self.system.keep()
        return str(self._kept.path)

    def _has_room(self) -> bool:
        if self._kept is None:
            raise UserError("nothing was kept")
        return self._kept.has_room()

    def _data_bytes(self) -> int | None:
        return self.system.data_bytes()

    def _moved(self, move: Callable[[], None]) -> Message:
        move()
        return self._state()

    def _make(self, system: Message, number: int) -> None:
        """Make a server of a system, not started yet."""
        built, reason = _built(spec_of(system), number)
        if reason:
            raise UserError(f"{built.spec.label}: {reason}")
        self._system = built
        self.tails.follow(self._folder / f"server-{built.server_name}.log", f"server-{built.server_name}.log")

    def _join(self, places: Sequence[Message], password: str) -> None:
        """Tell a node of Galera where all nodes are."""
        if not isinstance(self.system, Node):
            raise UserError(f"{self.system.spec.label}: it joins no other servers")
        self.system.join([Place(**node) for node in places], password)

    def _start(self, launch: Message) -> Message:
        self.system.start(self._launch(launch))
        return self._state()

    def _serve(self, behind: Message, launch: Message) -> Message:
        """Start a pooler in front of a server."""
        if not isinstance(self.system, Pooler):
            raise UserError(f"{self.system.spec.label}: it stands in front of no server")
        self.system.serve(Endpoint(**behind), self._launch(launch))
        return self._state()

    def _launch(self, launch: Message) -> Launch:
        cpus = launch["server_cpus"]
        self._pinned = {"server": cpus} if cpus else {}
        return launch_of(launch, self._guard, self._folder, self._address)

    def _state(self) -> Message:
        """Return what the conductor must know of the running system; its password travels no other way."""
        system = self.system
        return {
            "endpoint": asdict(system.endpoint),
            "pids": system.server_pids(),
            "forking": sorted(system.forking()),
            "started_with": system.started_with(),
            "console": asdict(system.console) if isinstance(system, Pooler) else None,
        }

    def _observe(self) -> Message:
        account_delays(self._guard.switch_on)
        self._observed += 1
        folder = self._folder / f"observed-{self._observed}"
        folder.mkdir()
        self.tails.follow(folder / LINES, LINES)
        system = self.system
        servers = system.server_pids(), system.forking(), system.data_directories(), system.probes()
        observed = Observed(
            *servers,
            addresses=system.addresses(),
            clients_elsewhere=True,
            pinned=self._pinned,
            log_threads=system.log_threads,
        )
        self._observer = Observer(observed, folder)
        return self._seen()

    def _watch(self) -> None:
        if self._observer:
            self._watching = self._observer.watching(None, False)
            self._watching.__enter__()

    def _unwatch(self) -> Message:
        if self._watching:
            self._watching.__exit__(None, None, None)
            self._watching = None
        if self._observer:
            self._observer.stop()
        return self._seen()

    def _seen(self) -> Message:
        observer = self._observer
        return {"not_seen": observer.not_seen, "cpu_s": observer.cpu_s} if observer else {"not_seen": {}, "cpu_s": 0.0}

    def _record_stacks(self, name: str, seconds: float) -> None:
        """Begin to record the stacks of the server under a name."""
        self._close_stacks()
        pid = next(iter(self.system.server_pids().values()), None)
        if pid is None:
            raise RunFailed("the server does not run, so its stacks are not recorded")
        self._recorder = Recorder(self._guard, {name: pid}, seconds)

    @property
    def _recording(self) -> Recorder:
        if self._recorder is None:
            raise UserError("no stacks are recorded")
        return self._recorder

    def _stacks_are_over(self) -> bool:
        return self._recording.is_over

    def _end_stacks(self) -> Message:
        return self._recording.end()

    def _read_stack(self, stack: str, begin: int) -> str:
        return self._recording.read(stack, begin)

    def _close_stacks(self) -> None:
        if self._recorder:
            self._recorder.close()
            self._recorder = None

    def stop(self) -> None:
        """Stop the system and remove what was made for it; may be called twice."""
        self._close_stacks()
        self._unwatch()
        self._observer = None
        if self._system:
            self._system.stop()
            self._system = None


def _built(spec: SystemSpec, number: int) -> tuple[Server, str | None]:
    """Return one of the servers of a system, and what this host lacks for it, or None; raises UserError if none is so.

    Each part of an arrangement has packages of its own; the servers of a system without parts have the same.
    """
    built = build(spec).private_servers()[number : number + 1]
    if not built or not isinstance(built[0], Server) or not built[0].serves_hosts:
        raise UserError(f"{spec.label}: it cannot be started for other hosts")
    return built[0], missing(built[0].spec if spec.parts else spec)


def _describe(systems: Sequence[Message], memory_limit_bytes: int | None) -> Message:
    """Return what this host lacks for the servers, by their systems' labels, and what room it has."""
    built = [_built(spec_of(asked["system"]), asked["number"]) for asked in systems]
    reasons = {server.spec.label: reason for server, reason in built}
    return {
        "missing": {label: reason for label, reason in reasons.items() if reason},
        "cpus": sorted(os.sched_getaffinity(0)),
        "room": asdict(free_room(memory_limit_bytes)),
    }


class Teller:
    """Says what happens unasked: how the server ended, and what was written. Answers come behind that."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper, self._lock, self._stopping = keeper, Lock(), Event()
        self._death: str | None = None
        self._thread = Thread(target=self._run, name="teller", daemon=True)

    def __enter__(self) -> "Teller":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def say(self, message: Message) -> None:
        """Say what is known by now, then a message."""
        with self._lock:
            self._tell()
            _write(message)

    def _run(self) -> None:
        while not self._stopping.wait(TELL_S):
            with self._lock:
                self._tell()

    def _tell(self) -> None:
        while grown := self._keeper.tails.grown():
            for message in grown:
                _write(message)
        if (death := self._keeper.death()) != self._death:
            self._death = death
            _write({"death": death})


def _write(message: Message) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def serve(keeper: Keeper) -> None:
    """Answer call after call until standard input ends; then stop the system."""
    try:
        with Teller(keeper) as teller:
            for line in sys.stdin:
                message = json.loads(line)
                try:
                    answer = {"answer": keeper.answer(message["call"], message["arguments"])}
                except UserError as error:
                    answer = {"refused": str(error)}
                except DbdynoError as error:
                    answer = {"failed": str(error)}
                teller.say(answer)
    finally:
        keeper.stop()


def main(arguments: list[str]) -> None:
    """Serve until the agent has nothing to say any more."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    given = parser.parse_args(arguments)
    # The agent ends this by the end of standard input, or by SIGKILL.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Guard() as guard, guard.scratch() as folder:
        serve(Keeper(given.address, guard, folder))


if __name__ == "__main__":
    main(sys.argv[1:])
