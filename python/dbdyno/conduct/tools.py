"""Runs a store's own tools: several side by side, each timed by itself, all of them ended when a signal comes."""

import os
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil

from dbdyno.conduct.context import Context
from dbdyno.conduct.waiting import wait_for
from dbdyno.errors import RunFailed
from dbdyno.systems.base import System
from dbdyno.systems.copier import Call, Copier, Stage
from dbdyno.systems.running.process import describe_exit, spawn, telling_lines

TIMEOUT_S = 24 * 3600


@dataclass(frozen=True)
class Ran:
    """The cost of a tool's stages: seconds from begin to end, processor seconds of the tool with its children and of
    the servers (None if there are none), and by table the seconds of its calls."""

    seconds: float
    tool_cpu_s: float
    server_cpu_s: float | None
    table_s: dict[str, float]


class Tools:
    """The programs of one tool on one system. log_path: where they say what they have to say."""

    def __init__(self, context: Context, system: System, copier: Copier, log_path: Path) -> None:
        self._context, self._system, self._copier, self._log_path = context, system, copier, log_path
        self._running: set[subprocess.Popen[bytes]] = set()
        self._cancelled = False

    def run(self, stages: Sequence[Stage]) -> Ran:
        """Run the stages one after the other.

        Raises RunFailed, quoting it, if a program fails; KeyboardInterrupt after a signal, when all have ended.
        """
        server_before_s, began = server_cpu_s(self._system), time.perf_counter()
        ended = [call for stage in stages for call in self._run(stage)]
        seconds, server_after_s = time.perf_counter() - began, server_cpu_s(self._system)
        table_s = {call.table: spent_s for call, spent_s, _ in ended if call.table}
        server_s = None if server_before_s is None else round((server_after_s or 0.0) - server_before_s, 3)
        return Ran(seconds, round(sum(cpu_s for *_, cpu_s in ended), 3), server_s, table_s)

    def _run(self, stage: Stage) -> list[tuple[Call, float, float]]:
        def all_calls() -> list[tuple[Call, float, float]]:
            with ThreadPoolExecutor(stage.at_once) as pool:
                return list(pool.map(self._call, stage.calls))

        try:
            return wait_for(self._context, all_calls, self._cancel, TIMEOUT_S)
        except TimeoutError:
            raise RunFailed(f"{self._system.spec.label}: tools did not end within {TIMEOUT_S:,} s") from None

    def _call(self, call: Call) -> tuple[Call, float, float]:
        """Run a program to its end; returns its seconds, and its processor seconds with its children's."""
        program = Path(call.argv[0]).name
        cpus = self._context.experiment.cpus.client
        pinned = ["taskset", "-c", ",".join(map(str, cpus))] if cpus else []
        with ExitStack() as files:
            log = files.enter_context(self._log_path.open("ab"))
            log_begins = log.tell()
            stdin = files.enter_context(call.reads.open("rb")) if call.reads else subprocess.DEVNULL
            stdout = files.enter_context(call.writes.open("wb")) if call.writes else None
            if self._cancelled:
                raise RunFailed(f"{program} was not started")
            began = time.perf_counter()
            process = spawn(
                [*pinned, *call.argv], self._copier.home, log, stdin, stdout, as_server=self._copier.as_server
            )
        self._context.guard.tell("pid", process.pid)
        self._running.add(process)
        # Only the first wait returns the resources that a process used.
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        self._running.discard(process)
        self._context.guard.tell("done", process.pid)
        if process.returncode != 0:
            said = telling_lines(self._log_path, log_begins)
            raise RunFailed(f"{self._system.spec.label}: {program} {describe_exit(process.returncode)}: {said}")
        return call, seconds, used.ru_utime + used.ru_stime

    def _cancel(self) -> None:
        self._cancelled = True
        for process in tuple(self._running):
            process.terminate()


def server_cpu_s(system: System) -> float | None:
    """Return the processor seconds that a system's servers have used, with their children; None if it has none."""
    pids = system.server_pids().values()
    return sum(map(_cpu_s, pids)) if pids else None


def _cpu_s(pid: int) -> float:
    try:
        process = psutil.Process(pid)
        times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    except psutil.Error:
        return 0.0  # It died, or a child ended right then: the trial tells the first, and the next look the second.
    return float(sum(used.user + used.system + used.children_user + used.children_system for used in times))
