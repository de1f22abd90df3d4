"""sysbench as a process: started with its configuration, and ended if it waits for a server without an end."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

import psutil

from dbdyno.load_python import signals
from dbdyno.load_python.bounds import ANSWERS_BYTES, limit_data
from dbdyno.load_python.failure import Ended

QUIET_S = 3600.0
"""An hour, as for a statement on a whole table of dbdyno's own: sysbench waits while the server makes an index."""
POLL_S = 0.25
CLIENT_BYTES = 16 << 20
"""Most memory for a client: its thread, its Lua with the script's tables, and its connection. It takes about 1 MiB."""


def environment_for(script: str | None) -> dict[str, str]:
    """Return the environment in which a script finds the files beside it; `;;` are Lua's own places."""
    if script is None or ("/" not in script and not script.endswith(".lua")):
        return dict(os.environ)
    beside = Path(script).resolve().parent / "?.lua"
    return {**os.environ, "LUA_PATH": f"{beside};{os.environ.get('LUA_PATH', ';')}"}


def start(
    arguments: Sequence[str], configuration: str, script: str | None, clients: int = 1
) -> tuple[subprocess.Popen[str], IO[str]]:
    """Start sysbench, which reads its configuration from standard input; return it with its standard output.

    Its memory is limited before it connects: it keeps whatever a server answers, to the end of the answer.
    """
    process = subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment_for(script),
    )
    assert process.stdin is not None and process.stdout is not None, "they are pipes"
    # One that ended before it read says why in its output.
    with suppress(BrokenPipeError, ProcessLookupError), process.stdin as pipe:
        limit_data(ANSWERS_BYTES + clients * CLIENT_BYTES, process.pid)
        pipe.write(configuration)
    return process, process.stdout


class Quiet:
    """Kills a process that uses no processor time for QUIET_S, and ends it once a signal came.

    sysbench has no time-out of its own. Nobody may wait for the process meanwhile, or its number could be another's.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._gave_up = False

    def __enter__(self) -> Quiet:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def check(self, what: str) -> None:
        """Raise Ended if the process was killed because it made no progress."""
        if self._gave_up:
            raise Ended("failed", f"timeout: {what} waited {QUIET_S:.0f} s for the server and was given up")

    def _watch(self) -> None:
        used_s, since = 0.0, time.monotonic()
        while not self._ended.wait(POLL_S):
            if (now_s := cpu_s(self._process.pid, used_s)) != used_s:
                used_s, since = now_s, time.monotonic()
            if signals.stop_requested():
                self._send(signal.SIGTERM)
            elif time.monotonic() - since > QUIET_S:
                self._gave_up = True
                self._send(signal.SIGKILL)
                return

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, number)


def cpu_s(pid: int, before_s: float) -> float:
    """Return the processor seconds that a process has used so far; those of before if it has just ended."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return before_s
    return float(times.user + times.system)
