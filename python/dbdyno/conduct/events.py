"""The events of a trial: each is begun at its second beside the load, and its outcome is kept."""

import os
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO

from dbdyno.conduct.context import Context
from dbdyno.contract import Record
from dbdyno.errors import DbdynoError
from dbdyno.experiment.events import KILL, Event
from dbdyno.experiment.redact import redact
from dbdyno.results.json_types import EventStated, EventWorkStated
from dbdyno.systems.base import System
from dbdyno.systems.errand import Errand
from dbdyno.systems.running.process import describe_exit, ending_with_us, last_lines, spawn

LEAD_S = 2.0
"""How long before its second a program is started that waits for it: Python loads a driver in less."""
POLL_S = 0.01
END_S = 2.0
"""Time that a program is given to end when the trial is over."""
LAST_LINES, LAST_CHARACTERS = 5, 200
OK, FAILED, CUT, NOT_BEGUN = "ok", "failed", "cut", "not begun"
"""How an event ended: by itself, well or not; with the trial; or the trial ended before it."""


@dataclass
class Happening:
    """An event in one trial, and its outcome. began_unix_s, ended_unix_s: None if it was not begun, or did not end."""

    event: Event
    state: str = NOT_BEGUN
    reason: str | None = "the trial ended before it"
    began_unix_s: float | None = None
    ended_unix_s: float | None = None
    exit_status: int | None = None
    output: list[str] = field(default_factory=list)

    def begins(self) -> None:
        """Note that it begins now, and that it is cut unless something else is said of it."""
        self.began_unix_s = time.time()
        self.state, self.reason = CUT, "it still ran when the trial ended: give more seconds"

    def ends(self, reason: str | None) -> None:
        """Note that it ends now. reason: why it failed, or None."""
        self.ended_unix_s = self.ended_unix_s or time.time()
        self.state, self.reason = (FAILED if reason else OK), reason

    def document(self) -> EventStated:
        """Return what `trial.json` says of it."""
        event = self.event
        works: dict[str, EventWorkStated] = {
            "sql": {"sql": event.text},
            "command": {"command": event.text},
            "action": {"action": event.text},
        }
        return {
            "name": event.label,
            "at": event.at,
            **works[event.way],
            "if_fails": event.if_fails,
            "state": self.state,
            "reason": redact(self.reason) if self.reason else None,
            "began_unix_s": self.began_unix_s,
            "ended_unix_s": self.ended_unix_s,
            "exit_status": self.exit_status,
            "output": [redact(line)[:LAST_CHARACTERS] for line in self.output],
        }


class Events:
    """Runs the events of an experiment in one trial; a context manager around its load, which receives the records."""

    def __init__(self, context: Context, system: System, folder: Path) -> None:
        """Take the running system, and the trial's folder for what programs write."""
        self._context, self.system, self._folder = context, system, folder
        self.happenings = [Happening(event) for event in sorted(context.experiment.events, key=lambda event: event.at)]
        self._began_unix_s = 0.0
        self._threads: list[threading.Thread] = []
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._away = 0

    def __enter__(self) -> "Events":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End what still runs, and wait for a server that is being started."""
        self._ended.set()
        with self._context.interrupts.noted():
            for thread in self._threads:
                thread.join()

    def record_came(self, record: Record) -> None:
        """Begin with the run's first second, and end with its last."""
        if not self.happenings or record["record"] != "phase" or record["phase"] != "run":
            return
        if record["state"] == "end":
            self._ended.set()
            return
        self._began_unix_s = record.get("at_unix_s") or time.time()
        if not self._threads:
            for number, happening in enumerate(self.happenings, 1):
                name = f"event-{number}"
                thread = threading.Thread(target=self._run, args=(happening, name), name=name, daemon=True)
                self._threads.append(thread)
                thread.start()

    def death(self) -> str | None:
        """Return how the server ended; None while it runs, or while an event has taken it away."""
        with self._lock:
            return None if self._away else self.system.death()

    @property
    def took_away(self) -> bool:
        """True if the server was started again, and counts from 0."""
        return any(happening.event.is_outage and happening.began_unix_s for happening in self.happenings)

    def failure(self) -> str | None:
        """Return why the trial fails because of an event, or None."""
        failed = (happening for happening in self.happenings if happening.state != OK)
        wrong = next((happening for happening in failed if happening.event.if_fails == "error"), None)
        return f"the event '{wrong.event.label}' did not succeed: {wrong.reason}" if wrong else None

    def documents(self) -> list[EventStated]:
        """Return what `trial.json` says of them."""
        return [happening.document() for happening in self.happenings]

    def _run(self, happening: Happening, name: str) -> None:
        try:
            if happening.event.is_outage:
                self._take_away(happening)
            else:
                self._carry_out(happening, name)
        except (DbdynoError, OSError) as error:
            happening.ends(" ".join(str(error).split()))

    def _wait_until(self, at_s: float) -> bool:
        """Wait until a second of the run; returns whether the trial still runs then."""
        while (left_s := self._began_unix_s + at_s - time.time()) > 0:
            # The first second begins anew when all clients are connected.
            if self._ended.wait(min(left_s, 0.1)):
                return False
        return not self._ended.is_set()

    def _take_away(self, happening: Happening) -> None:
        """Restart or kill the server, and have it started again."""
        if not self._wait_until(happening.event.at):
            return
        kills = happening.event.action == KILL
        self._set_away(+1)
        try:
            happening.begins()
            _starter().submit(self._kill if kills else self.system.restart).result()
            happening.ends(None)
        finally:
            self._set_away(-1)

    def _kill(self) -> None:
        self.system.kill()
        self.system.start_again()

    def _set_away(self, change: int) -> None:
        with self._lock:
            self._away += change

    def _carry_out(self, happening: Happening, name: str) -> None:
        """Run a program to its end, or to that of the trial."""
        event = happening.event
        if not self._wait_until(event.at - LEAD_S):
            return
        with self._context.guard.scratch() as scratch:
            errand = self._errand(event, scratch)
            if not errand.waits and not self._wait_until(event.at):
                return
            with (self._folder / f"{name}.log").open("wb") as log:
                process = self._start(errand, log)
            try:
                self._follow(happening, process, errand)
            finally:
                _end(process)
                self._context.guard.tell("done", process.pid)
                if errand.leaves:
                    shutil.rmtree(errand.leaves, ignore_errors=True)
        self._conclude(happening, process, self._folder / f"{name}.log")

    def _errand(self, event: Event, scratch: Path) -> Errand:
        if event.sql is not None:
            return self.system.statement(event.sql)
        if event.command is not None:
            return Errand(["/bin/sh", "-c", event.command], environment=self.system.login(scratch))
        return self.system.action(str(event.action), event.table)

    def _start(self, errand: Errand, log: IO[bytes]) -> subprocess.Popen[bytes]:
        argv = [*ending_with_us(signal.SIGKILL), *errand.argv]
        if errand.as_server and errand.home:
            process = spawn(argv, errand.home, log)
        else:
            process = subprocess.Popen(
                argv,
                cwd=errand.home,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**os.environ, **errand.environment},
                process_group=0,
            )
        self._context.guard.tell("pid", process.pid)
        return process

    def _follow(self, happening: Happening, process: subprocess.Popen[bytes], errand: Errand) -> None:
        """Give a program what it reads, at its second, and wait for its end or the trial's."""
        assert process.stdin is not None, "it is a pipe"
        # A program that ended at once reads nothing; its status says why.
        with suppress(BrokenPipeError):
            process.stdin.write(errand.stdin)
            process.stdin.flush()
        if errand.waits and not self._wait_until(happening.event.at):
            return
        happening.begins()
        with suppress(BrokenPipeError):
            process.stdin.close()
        while process.poll() is None and not self._ended.wait(POLL_S):
            continue
        if process.poll() is not None:
            happening.ended_unix_s = time.time()

    def _conclude(self, happening: Happening, process: subprocess.Popen[bytes], log: Path) -> None:
        """Say how a program ended, unless it did so with the trial."""
        said = last_lines(log)
        happening.output = said[-LAST_LINES:]
        if happening.ended_unix_s is None:
            return
        happening.exit_status = process.returncode
        why = f": {said[-1]}" if said else ""
        happening.ends(f"it {describe_exit(process.returncode)}{why}" if process.returncode else None)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with all that it started, unless it has ended."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin:
        with suppress(BrokenPipeError):
            process.stdin.close()


@cache
def _starter() -> ThreadPoolExecutor:
    """Return the thread that starts servers again. It lives as long as dbdyno: the kernel ends a server with the thread
    that started it (`ending_with_us`)."""
    return ThreadPoolExecutor(1, "starts-servers")
