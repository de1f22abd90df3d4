"""The time in which the stacks of servers on other hosts are recorded, by their keepers."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event

from dbdyno.errors import DbdynoError
from dbdyno.hosts.channel import Message
from dbdyno.hosts.elsewhere import Elsewhere
from dbdyno.observe.stacks.window import KINDS, EventsPerS, stack_names
from dbdyno.results.profile import StacksStated
from dbdyno.results.write import write_whole

POLL_S = 0.2
NO_SERVER_HOST = "its server is on no server host of the run"


class HostsWindow:
    """Servers whose stacks are recorded for some seconds, as `dbdyno.observe.stacks.window.Window` does on this host.

    missing: the stacks that the hosts do not show, and why. begun_unix_s: None before it begins.
    """

    def __init__(self, servers: Sequence[Elsewhere], seconds: float) -> None:
        """Ask the servers' hosts which stacks they show."""
        named = stack_names({server.server_name: server for server in servers})
        self._recorded = [_Recorded(name, server, seconds) for name, server in named.items()]
        self._threads = ThreadPoolExecutor(max(1, len(servers)), "stacks")
        self._recordings: dict[str, Future[None]] = {}
        self._events_per_s: EventsPerS = {}
        self.missing = self._missing() if servers else dict.fromkeys(KINDS, NO_SERVER_HOST)
        self.begun_unix_s: float | None = None

    def _missing(self) -> dict[str, str]:
        """Return what is missing; of several hosts with the names of the server and of the host."""
        if len(self._recorded) == 1:
            return self._recorded[0].missing
        return {
            f"{recorded.name}-{kind}": f"on {recorded.host}: {reason}"
            for recorded in self._recorded
            for kind, reason in recorded.missing.items()
        }

    def __enter__(self) -> "HostsWindow":
        return self

    def __exit__(self, *_: object) -> None:
        for recorded in self._recorded:
            recorded.is_ending.set()
        self._threads.shutdown()
        for recorded in self._recorded:
            recorded.close()

    @property
    def is_blind(self) -> bool:
        """True if no host shows any kind of stacks."""
        return all(recorded.is_blind for recorded in self._recorded)

    def add_client(self, pid: int) -> None:
        """Do nothing: the load clients are on other hosts."""

    def begin(self) -> None:
        """Have all hosts begin to record. That takes time, in which this thread goes on with the load."""
        self.begun_unix_s = time.time()
        for recorded in self._recorded:
            if not recorded.is_blind:
                self._recordings[recorded.name] = self._threads.submit(recorded.record)

    @property
    def is_over(self) -> bool:
        """Return whether all that was begun has ended."""
        return all(recording.done() for recording in self._recordings.values())

    def events_per_s(self) -> EventsPerS:
        """Return the processors' events in a second of each server, once the stacks are written."""
        return self._events_per_s

    def write(self, folder: Path) -> tuple[dict[str, StacksStated], dict[str, str]]:
        """Wait for the end and write the folded stacks of all hosts; returns what is said of each, and what failed."""
        written: dict[str, StacksStated] = {}
        failed: dict[str, str] = {}
        events_per_s: dict[str, dict[str, float | None]] = {}
        for recorded in self._recorded:
            if (recording := self._recordings.get(recorded.name)) is None:
                continue
            try:
                recording.result()
                answer = recorded.write(folder)
            except DbdynoError as error:
                failed[recorded.name] = str(error)
                continue
            written |= answer["stacks"]
            failed |= answer["failed"]
            events_per_s |= answer["events_per_s"]
        self._events_per_s = events_per_s
        return written, failed


class _Recorded:
    """One server on its host. name: of its stacks. missing: the kinds that its host does not show, and why."""

    def __init__(self, name: str, server: Elsewhere, seconds: float) -> None:
        self.name, self.host = name, server.post.host
        self._line, self._seconds = server.line, seconds
        self.is_ending = Event()
        # A host that is lost makes the trial invalid, and not the profile.
        try:
            self.missing: dict[str, str] = dict(self._line.call("stacks_not_seen"))
        except DbdynoError as error:
            self.missing = dict.fromkeys(KINDS, str(error))

    @property
    def is_blind(self) -> bool:
        return len(self.missing) == len(KINDS)

    def record(self) -> None:
        """Have its host record, and return when that is over; raises DbdynoError."""
        self._line.call("record_stacks", name=self.name, seconds=self._seconds)
        while not self.is_ending.is_set() and not self._line.call("stacks_are_over"):
            self.is_ending.wait(POLL_S)

    def write(self, folder: Path) -> Message:
        """Write its stacks into a folder of this host, and return what its host says of them."""
        answer: Message = self._line.call("end_stacks")
        for stack in answer["stacks"].keys() & {f"{self.name}-{kind}" for kind in KINDS}:
            pieces: list[str] = []
            while piece := self._line.call("read_stack", stack=stack, begin=sum(map(len, pieces))):
                pieces.append(piece)
            write_whole(folder / f"{stack}.folded", "".join(pieces))
        return answer

    def close(self) -> None:
        """Have its host end and remove what it recorded; a host that is lost did so itself."""
        if not self._line.lost and not self._line.waits:
            with suppress(DbdynoError):
                self._line.call("close_stacks")
