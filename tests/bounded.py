"""Runs a command as a person would, and measures when it ends and what all of its processes take."""

import subprocess
import tempfile
import time
from contextlib import suppress
from typing import NamedTuple

import psutil

LOOK_S = 0.02


class Ended(NamedTuple):
    """How a command ended; status: None if it had to be killed. peak_bytes: resident, of the whole tree at a moment."""

    status: int | None
    seconds: float
    peak_bytes: int
    said: str


def run_bounded(argv: list[str], stdin: str | bytes = "", kill_after_s: float = 60, **options: object) -> Ended:
    """Run a command to its end, or kill it with its children."""
    began, peak = time.monotonic(), 0
    # A pipe that nobody reads would stop a program that complains much.
    output = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
    process = psutil.Popen(argv, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, text=True, **options)
    process.stdin.buffer.write(stdin if isinstance(stdin, bytes) else stdin.encode())
    process.stdin.close()
    while process.poll() is None and time.monotonic() - began < kill_after_s:
        peak = max(peak, _resident(process))
        time.sleep(LOOK_S)
    seconds, status = time.monotonic() - began, process.poll()
    if status is None:
        for victim in (*process.children(recursive=True), process):
            with suppress(psutil.NoSuchProcess):
                victim.kill()
    process.wait()
    with output:
        output.seek(0)
        said = output.read()
    return Ended(status, seconds, peak, said)


def _resident(process: psutil.Process) -> int:
    """Return what a process and its children hold; one that was just forked shares all of its parent's."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        parent = process.memory_info()
        total = parent.rss
        for child in process.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                memory = child.memory_info()
                total += 0 if memory.vms == parent.vms and child.cmdline() == process.cmdline() else memory.rss
    return total
