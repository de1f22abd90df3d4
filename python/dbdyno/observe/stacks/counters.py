"""Counts what processors do for running processes, with Linux's perf: instructions, cache and branch misses.

The counters are the processor's own. A virtual machine often hides them; they are then not known.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

EVENTS = {"instructions": "instructions", "cache_misses": "cache-misses", "branch_misses": "branch-misses"}
"""Names in `profile.json`, and perf's names of these events."""


class Counting:
    """Some processes whose events are counted together."""

    def __init__(
        self, pids: Sequence[int], said: Path, seconds: float, events: Mapping[str, str] | None = None
    ) -> None:
        """Begin to count for `seconds`; perf says what it counted in the file `said`."""
        self._said, self._seconds, self._events = said, seconds, events or EVENTS
        self.process = subprocess.Popen(
            [
                *("perf", "stat", "-x", ",", "-o", str(said), "-e", ",".join(self._events.values())),
                *("-p", ",".join(map(str, pids)), "--", "sleep", str(seconds)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )

    def stop(self) -> None:
        """Let the counting end now, and wait for it."""
        if self.process.poll() is None:
            # perf stat waits for the program that it runs meanwhile, so that one is ended, too.
            os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait()

    def per_s(self) -> dict[str, float | None]:
        """Wait for the end and return how many of each event there were in a second; `None` if not counted."""
        self.process.wait()
        lines = self._said.read_text(errors="replace").splitlines() if self._said.exists() else []
        return {name: _count_per_s(lines, event, self._seconds) for name, event in self._events.items()}


def _count_per_s(lines: Sequence[str], event: str, seconds: float) -> float | None:
    """Return the sum of an event's lines: a processor of two kinds of cores has one for each kind.

    A line is `count,unit,event,…`, with `<not supported>` for a count that there is not, and perhaps `:u` behind the
    event (perf-stat(1), "CSV FORMAT").
    """
    counts = []
    for line in lines:
        fields = line.split(",")
        if len(fields) > 2 and event in fields[2] and fields[0].replace(".", "", 1).isdigit():
            counts.append(float(fields[0]))
    return sum(counts) / seconds if counts else None
