"""Runs one program on chosen processors and says what it cost."""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dbdyno.errors import RunFailed
from dbdyno.systems.running.process import describe_exit

HANG_S = 600.0
"""No run takes this long: one that does hangs, and is killed."""


@dataclass(frozen=True)
class Placement:
    """The processors of client and server; None: any."""

    name: str
    client_cpus: tuple[int, ...] | None
    server_cpus: tuple[int, ...] | None


def placements() -> dict[str, Placement]:
    """Return the placements of this host by name; `apart` is missing if there is one processor."""
    first, *others = sorted(os.sched_getaffinity(0))
    apart = {"apart": Placement("apart", (others[0],), (first,))} if others else {}
    return {"same": Placement("same", (first,), (first,)), **apart, "free": Placement("free", None, None)}


@dataclass(frozen=True)
class Sample:
    """One run of one client. operations, seconds: as it counted them. user_s, system_s: CPU of the whole process."""

    operations: int
    seconds: float
    user_s: float
    system_s: float
    details: dict[str, float] = field(default_factory=dict)

    @property
    def cpu_us(self) -> float:
        """User and system CPU per operation."""
        return (self.user_s + self.system_s) / self.operations * 1e6

    @property
    def user_us(self) -> float:
        """User CPU per operation."""
        return self.user_s / self.operations * 1e6

    @property
    def rate_per_s(self) -> float:
        """Operations per second."""
        return self.operations / self.seconds


@dataclass(frozen=True)
class Outcome:
    """A process's output and cost: user and system CPU from wait4, so start-up and every thread are in it."""

    status: int
    output: str
    user_s: float
    system_s: float
    wall_s: float

    def sample(self, operations: int, seconds: float, **details: float) -> Sample:
        """Return the sample of this process having done that."""
        return Sample(operations, seconds, self.user_s, self.system_s, details)


def added(parts: Sequence[Outcome]) -> Outcome:
    """Return what several processes that ran one after the other cost together."""
    user_s, system_s, wall_s = (
        sum(getattr(outcome, name) for outcome in parts) for name in ("user_s", "system_s", "wall_s")
    )
    return Outcome(parts[-1].status, "".join(outcome.output for outcome in parts), user_s, system_s, wall_s)


def run(
    argv: Sequence[str | Path],
    cpus: tuple[int, ...] | None = None,
    stdin: str = "",
    watch: Callable[[int], None] | None = None,
) -> Outcome:
    """Run a program to its end. Its output goes to files: nobody reads, and so competes for its CPU, meanwhile.

    watch: called with the pid once it runs, and may take its time.
    """
    command = [*pinned(cpus), *map(str, argv)]
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as output:
        given.write(stdin)
        given.seek(0)
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=given, stdout=output, stderr=subprocess.STDOUT)
        hang = threading.Timer(HANG_S, process.kill)
        hang.start()
        try:
            if watch:
                watch(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            hang.cancel()
        # Popen has not seen the end that wait4 saw.
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.monotonic() - begin
        output.seek(0)
        return Outcome(process.returncode, output.read(), usage.ru_utime, usage.ru_stime, wall_s)


def run_well(argv: Sequence[str | Path], cpus: tuple[int, ...] | None = None) -> Outcome:
    """Run a program that must succeed; raises RunFailed with its last words otherwise."""
    outcome = run(argv, cpus)
    if outcome.status != 0:
        said = outcome.output.strip().splitlines()[-3:]
        raise RunFailed(f"{Path(argv[0]).name} {describe_exit(outcome.status)}: {' | '.join(said)}")
    return outcome


def pinned(cpus: tuple[int, ...] | None) -> list[str]:
    """Return what goes before a command to keep it, and all its threads, on these processors."""
    return ["taskset", "-c", ",".join(map(str, cpus))] if cpus else []
