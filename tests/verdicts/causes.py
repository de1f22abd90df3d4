"""Causes: what is done to the client, the server or the processors of a trial."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

from dbdyno.errors import UserError
from dbdyno.observe.disk import device_of
from dbdyno.systems.running.cgroup import ControlGroup, Limit, disk_limit, limited, memory_limit

from .stage import CannotInject, Cause, Stage

BUSY = """\
import sys, time
while True:
    ends = time.monotonic() + 0.05 * float(sys.argv[1])
    while time.monotonic() < ends:
        pass
    time.sleep(0.05 * (1 - float(sys.argv[1])))
"""
"""A program that works for that share of every 50 ms."""
THRASHING = """\
import mmap, os, sys, tempfile
sys.stdin.readline()
with tempfile.TemporaryFile() as file:
    os.posix_fallocate(file.fileno(), 0, int(sys.argv[1]))
    mapped = mmap.mmap(file.fileno(), 0)
    while True:
        for at in range(0, len(mapped), 4096):
            mapped[at]
"""
"""A program that reads so many bytes of a file again and again."""
FREEZER = Limit("when it runs", ("freezer", "freezer"), {"freezer.state": "THAWED"}, {"cgroup.freeze": "0"})
"""The files that freeze a group, in either version. Written as a limit it changes nothing yet."""


def server_limited(limit: Callable[[], Limit]) -> Cause:
    """Limit the servers from the trial's begin on."""

    def cause(stage: Stage) -> None:
        need_group(limit(), stage)
        stage.at_begin.append(lambda pids: _limit(stage, with_children(pids), limit()))

    return cause


def client_limited(limit: Callable[[], Limit]) -> Cause:
    """Limit this process and so the load client that it starts, from the trial's begin on.

    This process itself does next to nothing meanwhile.
    """

    def cause(stage: Stage) -> None:
        need_group(limit(), stage)
        stage.at_begin.append(lambda _: _limit(stage, [os.getpid()], limit()))

    return cause


def all_limited(limit: Callable[[], Limit]) -> Cause:
    """Limit this process and all that it starts from now on: for memory, which belongs to whoever touched it first."""

    def cause(stage: Stage) -> None:
        need_group(limit(), stage)
        stage.stack.enter_context(limited([os.getpid()], limit(), stage.guard))

    return cause


def permitted(limit: Callable[[], Limit]) -> Cause:
    """Do nothing, on a host that allows the limit."""
    return lambda stage: need_group(limit(), stage)


def _limit(stage: Stage, pids: list[int], limit: Limit) -> None:
    stage.trial.enter_context(limited(pids, limit, stage.guard))


def need_group(limit: Limit, stage: Stage) -> None:
    """Raise CannotInject if this host does not allow the limit."""
    try:
        ControlGroup(limit, stage.guard).remove()
    except UserError as error:
        raise CannotInject(str(error)) from None


def slow_disk(**per_s: float) -> Callable[[], Limit]:
    """Return the limit of the disk on which servers have their data."""

    def limit() -> Limit:
        device = device_of(Path(os.environ.get("DBDYNO_DATA_DIR") or tempfile.gettempdir()))
        if device is None:
            raise CannotInject("the data does not lie on a disk")
        return disk_limit((device / "dev").read_text().strip(), per_s)

    return limit


def neighbours(count: int, share: float) -> Cause:
    """Start programs that take `share` of a processor each, one on each, beginning with the server's.

    They are real-time ones: others would get no more than any of the server's many threads, or than its session.
    """

    def cause(stage: Stage) -> None:
        cpus = sorted(os.sched_getaffinity(0), reverse=True)
        for cpu in cpus[:count]:
            process = subprocess.Popen([sys.executable, "-I", "-c", BUSY, str(share)])
            end_with(stage, process)
            os.sched_setaffinity(process.pid, {cpu})
            try:
                os.sched_setscheduler(process.pid, os.SCHED_RR, os.sched_param(1))
            except PermissionError:
                raise CannotInject("a real-time process takes root") from None

    return cause


def thrashing() -> Cause:
    """Start a program in a control group with half the memory that it works on."""
    memory_bytes = 64 << 20

    def cause(stage: Stage) -> None:
        limit = memory_limit(memory_bytes)
        need_group(limit, stage)
        argv = [sys.executable, "-I", "-c", THRASHING, str(2 * memory_bytes)]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, text=True)
        stage.stack.enter_context(limited([process.pid], limit, stage.guard))
        end_with(stage, process)
        process.stdin.write("\n")
        process.stdin.flush()

    return cause


def end_with(stage: Stage, process: subprocess.Popen) -> None:
    """End a process with its stage, and however dbdyno ends."""
    stage.stack.callback(process.wait)
    stage.stack.callback(process.kill)
    stage.guard.tell("pid", process.pid)


def stalling(stopped_s: float, period_s: float) -> Cause:
    """Freeze the servers for `stopped_s` of every `period_s`, all their processes at once.

    By their control group: a server that is found stopped by a signal counts as dead.
    """

    def begin(stage: Stage, pids: list[int]) -> None:
        groups = stage.trial.enter_context(limited(with_children(pids), FREEZER, stage.guard))

        def stall(is_over: Callable[[float], bool]) -> None:
            while not is_over(period_s - stopped_s):
                freeze(groups, frozen=True)
                is_over(stopped_s)
                freeze(groups, frozen=False)

        in_background(stage, stall)

    def cause(stage: Stage) -> None:
        need_group(FREEZER, stage)
        stage.at_begin.append(lambda pids: begin(stage, pids))

    return cause


def freeze(groups: Iterable[Path], frozen: bool) -> None:
    """Freeze or thaw all processes of some groups, of either version."""
    for group in groups:
        if (group / "freezer.state").exists():
            (group / "freezer.state").write_text("FROZEN" if frozen else "THAWED")
        else:
            (group / "cgroup.freeze").write_text("1" if frozen else "0")


def in_background(stage: Stage, repeat: Callable[[Callable[[float], bool]], None]) -> None:
    """Run `repeat` in a thread until the trial ends; its argument waits for some seconds and returns whether it has."""
    over = threading.Event()
    thread = threading.Thread(target=repeat, args=(over.wait,), daemon=True)
    stage.trial.callback(thread.join)
    stage.trial.callback(over.set)
    thread.start()


def with_children(pids: list[int]) -> list[int]:
    """Return these processes and all below them: PostgreSQL has one for each connection."""
    all_pids = list(pids)
    for pid in pids:
        try:
            all_pids += [child.pid for child in psutil.Process(pid).children(recursive=True)]
        except psutil.NoSuchProcess:
            continue  # It has ended, and nothing is below it.
    return all_pids
