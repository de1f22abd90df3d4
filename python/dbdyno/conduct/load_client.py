"""Runs a load client: gives it the plan, keeps its records as they come, has it observed meanwhile."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from dbdyno.conduct.c_library import preloaded
from dbdyno.conduct.interrupt import Interrupts
from dbdyno.conduct.load_program import LOAD_PROGRAM, built_program, installed_places
from dbdyno.conduct.own_client import RecordCheck
from dbdyno.conduct.plan import Plan
from dbdyno.conduct.watchdog import POLL_S, Watchdog
from dbdyno.contract import (
    CONTRACT,
    CheckRecord,
    EndRecord,
    HelloRecord,
    LibraryRecord,
    Record,
    TotalTransactionsRecord,
    as_record,
)
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.workloads import SYSBENCH
from dbdyno.results.model import WHOLE_SECOND
from dbdyno.results.write import Lines, write_object
from dbdyno.systems.running.guard import Guard
from dbdyno.systems.running.process import describe_exit, ending_with_us, feed, last_lines, refuse_broken

PROGRAM_VARIABLE = "DBDYNO_LOAD"
_READ_SIZE = 1 << 20
_MOST_LINE_BYTES = 1 << 26
"""Longest line of a load client: a second with times in every bucket of 100 operations takes a quarter of it."""
SETTLE_S = 1.0
"""A server may still carry out what a killed client has sent: an insert that comes late makes a collection anew."""


@dataclass
class Summary:
    """The sums of a load client's records that conduct needs; the figures are computed from the records themselves.

    transactions, seconds: completed and measured, without the warm-up. rates_per_s: of its whole seconds.
    ended: the transactions of the whole run, as its total counts them; None without a total.
    errors (by kind), mismatches: with the warm-up. library: what an embedded store's library said of itself.
    given_up: why it was ended before its end, if it was. program: how a person knows the load client.
    """

    program: str = LOAD_PROGRAM
    hello: HelloRecord | None = None
    transactions: int = 0
    seconds: float = 0.0
    rates_per_s: list[float] = field(default_factory=list)
    ended: TotalTransactionsRecord | None = None
    errors: dict[str, int] = field(default_factory=dict)
    mismatches: int = 0
    wrong_checks: list[CheckRecord] = field(default_factory=list)
    library: LibraryRecord | None = None
    end: EndRecord | None = None
    exit_status: int = 0
    given_up: str | None = None

    def add(self, record: Record) -> None:
        """Take one record into account; raises RunFailed if the load client speaks another contract."""
        match record["record"]:
            case "hello" if record["contract"] != CONTRACT:
                raise RunFailed(
                    f"{record['program']} {record['version']} speaks contract {record['contract']}, this dbdyno "
                    f"{CONTRACT}: install both of one version"
                )
            case "hello":
                self.hello, self.library = record, record.get("store")
            case "interval":
                if not record["warmup"]:
                    self.transactions += record["transactions"]["completed"]
                    self.seconds += record["seconds"]
                    if record["seconds"] > WHOLE_SECOND:
                        self.rates_per_s.append(record["transactions"]["completed"] / record["seconds"])
                self.mismatches += record["mismatches"]
                for kind, count in record["errors"].items():
                    self.errors[kind] = self.errors.get(kind, 0) + count
            case "total":
                self.ended = record["transactions"]
            case "check" if record["ok"] is False:
                self.wrong_checks.append(record)
            case "end":
                self.end = record


@dataclass(frozen=True)
class Supervision:
    """The reasons to end a load client early.

    guard: when dbdyno is gone. interrupts: when a person asks. death: says how a server ended without which the load
    client has nothing to do, or None while it runs.
    """

    guard: Guard
    interrupts: Interrupts
    death: Callable[[], str | None] | None = None


class Watcher(Protocol):
    """Anything that works while a load client runs, with it or beside it."""

    def watching(self, client_pid: int, client_forks: bool) -> AbstractContextManager[None]:
        """Return what surrounds the run. client_forks: the load client has processes of its own."""


def find_load_client() -> Path:
    """Return the program `dbdyno-load`: of DBDYNO_LOAD, else where it was installed, on the PATH, or in the checkout.

    Raises UserError if it is nowhere.
    """
    if given := os.environ.get(PROGRAM_VARIABLE):
        if not os.access(given, os.X_OK):
            raise UserError(f"{PROGRAM_VARIABLE}={given}: no program is there")
        return Path(given)
    for candidate in (*installed_places(), shutil.which(LOAD_PROGRAM), built_program()):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    raise UserError(
        "dbdyno-load is missing: build it with `cargo build --release`, or `pip install .` for both programs"
    )


def load_client_version(program: Path) -> str:
    """Return what `dbdyno-load --version` says; raises UserError if it does not run."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(f"{program} does not run: {error}") from None


def execute(
    plan: Plan,
    secrets: list[str],
    folder: Path,
    supervision: Supervision,
    on_record: Callable[[Record], None],
    observer: Watcher | None = None,
) -> Summary:
    """Have a load client execute `plan`, and record it in `folder`.

    observer: observes meanwhile, if given.
    Raises RunFailed if the load client speaks another contract, or the user's own writes what is no record of it.
    Raises OSError if the disk is full.
    """
    write_object(folder / "plan.json", plan.document())
    records = Lines(folder / "records.jsonl")
    summary, guard, interrupts = Summary(plan.client), supervision.guard, supervision.interrupts
    parse = RecordCheck(plan.client).read if plan.program else _parse
    with (folder / "load.log").open("ab") as log:
        process, output = _start(plan, secrets, log, guard)
    watchdog = Watchdog(process.pid, plan, interrupts, supervision.death)
    try:
        forks = plan.library is not None or plan.program is not None
        watching = observer.watching(process.pid, forks) if observer else nullcontext()
        with interrupts.passed_to(process.pid), watching:
            for line in _lines(output, watchdog):
                record = parse(line)
                records.append(line)
                if record:
                    watchdog.record_came(record)
                    summary.add(record)
                    on_record(record)
            # Its status stays until its group has been ended: the number is nobody else's so long.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        summary.exit_status, summary.given_up = process.wait(), watchdog.given_up
        output.close()
        guard.tell("done", process.pid)
        records.close()
    if summary.exit_status < 0:
        time.sleep(SETTLE_S)
    return summary


def _start(plan: Plan, secrets: list[str], log: IO[bytes], guard: Guard) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Start it, tell the guard, and return it with its output.

    It has a process group of its own: a terminal's Ctrl-C reaches it once, by way of dbdyno. The kernel ends it if
    dbdyno is killed before the guard knows it: one that is stopped by SIGSTOP would stay.
    """
    command = _command(plan)
    refuse_broken(command)
    process = subprocess.Popen(
        [*ending_with_us(signal.SIGKILL), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        process_group=0,
        env=_environment(plan),
    )
    guard.tell("pid", process.pid)
    second_line = json.dumps({"secrets": secrets}) if secrets else ""
    feed(process, f"{json.dumps(plan.document())}\n{second_line}\n")
    assert process.stdout is not None, "it is a pipe"
    return process, process.stdout


def _command(plan: Plan) -> list[str]:
    """Return the load client that executes `plan`: the user's own, what its `library` asks for, or the native one."""
    if plan.program:
        return [plan.program, "run"]
    if plan.library == SYSBENCH:
        return [sys.executable, "-P", "-m", "dbdyno.load_sysbench", "run"]
    if plan.library:
        # -P: what lies in the folder dbdyno is called from must not be taken for a library.
        return [sys.executable, "-P", "-m", "dbdyno.load_python", "run"]
    return [str(find_load_client()), "run"]


def _environment(plan: Plan) -> dict[str, str]:
    """Return the load client's: for the Python one without numpy's threads, as it forks, and with its C library."""
    if plan.program:
        return dict(os.environ)
    return {"OPENBLAS_NUM_THREADS": "1", **os.environ, **preloaded(plan.c_library)}


def _lines(output: IO[bytes], watchdog: Watchdog) -> Iterator[bytes]:
    """Yield the lines of the load client's output as they come; the watchdog looks at it in between."""
    rest, descriptor = b"", output.fileno()
    while True:
        came = readable(descriptor, POLL_S)
        watchdog.look()
        if not came:
            continue
        if not (chunk := os.read(descriptor, _READ_SIZE)):
            break
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > _MOST_LINE_BYTES:
            raise RunFailed(f"the load client wrote a line of more than {_MOST_LINE_BYTES >> 20} MiB")
    if rest:
        yield rest


def readable(descriptor: int, patience_s: float) -> bool:
    """Return whether something can be read within that time, or there is no more to read.

    By poll(2), because select(2) takes no descriptor above 1023.
    """
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(patience_s * 1000))


def _parse(line: bytes) -> Record | None:
    """Return the record of a line; a line cut short by a kill is none."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return as_record(record) if isinstance(record, dict) and "record" in record else None


def why_it_failed(summary: Summary, folder: Path) -> str | None:
    """Return why a load client did not do what it was asked, or None if it did."""
    if summary.given_up:
        return summary.given_up
    if summary.end is None:
        log = last_lines(folder / "load.log")
        said = f": {log[-1]}" if log else ""
        crashed = "; a library in it may have crashed on what the store sent"
        hint = crashed if summary.exit_status == -signal.SIGSEGV else ""
        return f"{summary.program} {describe_exit(summary.exit_status)} before its end{said}{hint}"
    if summary.end["status"] in ("failed", "refused"):
        return summary.end["reason"] or f"{summary.program} {summary.end['status']} without a reason"
    return None
