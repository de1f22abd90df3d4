"""Records the stacks of running processes with Linux's perf, which needs nothing of them but to run.

The processor clock is sampled for where they run; and where they wait is where their context switches happen
(B. Gregg, Systems Performance, 2nd edition, 2020, section 5.5.3), each lasting until the thread is switched in again.
Both are software events, so they are there in virtual machines too.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from dbdyno.errors import RunFailed
from dbdyno.observe.stacks.fold import Folded, fold

SAMPLES_PER_S = 99
"""Samples of each processor that they use: not 100, which would run in step with timers."""
SWITCH_SAMPLES_PER_S = 500
"""About so many context switches are sampled, however many there are."""
CALL_GRAPH = "dwarf,16384"
"""Copies the top of the stack to be unwound later: distributions compile servers without frame pointers."""
MAX_SIZE = "1G"
"""Largest recording of one process: it ends there rather than fill the disk."""
_WATCH_S = 0.3
_UNWIND_S = 180
_FIELDS = "comm,pid,tid,time,event,period,ip,sym,dso"


class Recording:
    """Some processes being recorded, as one."""

    def __init__(self, pids: list[int], data: Path, seconds: float, every: int = 1) -> None:
        """Begin to record for `seconds` into the file `data`, which is large and of no use afterwards.

        every: of the context switches, each so-many-th.
        """
        self._data, self._every = data, every
        events = (f"cpu-clock/freq={SAMPLES_PER_S}/", f"context-switches/period={self._every}/")
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                ["perf", "record", "--quiet", "--switch-events", "--max-size", MAX_SIZE, "--call-graph", CALL_GRAPH]
                + [argument for event in events for argument in ("-e", event)]
                + ["-p", ",".join(map(str, pids)), "-o", str(data), "--", "sleep", str(seconds)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )

    @property
    def _log(self) -> Path:
        return self._data.with_suffix(".log")

    def stop(self) -> None:
        """Let the recording end now, and wait for it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def folded(self) -> Folded:
        """Wait for the recording's end and return its stacks; raises RunFailed, in perf's words, if there are none."""
        self.process.wait()
        if not self._data.exists() or not self._data.stat().st_size:
            raise RunFailed(f"perf record: {self._said()}")
        # Symbols are those of this host: asking a server on the network for others could take minutes.
        environment = {**os.environ, "DEBUGINFOD_URLS": "", "LC_ALL": "C"}
        script = ["perf", "script", "-i", str(self._data), "--no-inline", "--show-switch-events", "-F", _FIELDS]
        with (
            self._log.open("ab") as log,
            subprocess.Popen(script, stdout=subprocess.PIPE, stderr=log, env=environment) as process,
        ):
            assert process.stdout is not None, "it is a pipe"
            late = threading.Timer(_UNWIND_S, process.kill)
            late.start()
            text = (line.decode(errors="replace") for line in process.stdout)
            folded = fold(text, self._every)
            late.cancel()
        if process.returncode:
            raise RunFailed(f"perf script ended with status {process.returncode}: {self._said()}")
        return folded

    def _said(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return " ".join(lines[:2]) or "it recorded nothing"


def switches_per_sample(processes: Mapping[str, list[int]]) -> dict[str, int]:
    """Watch processes for a moment; returns every how many context switches of each one is worth sampling.

    All are watched at once and before any is recorded, which would slow them down and so hide how many there are.
    An odd number, or of two waits that take turns one would never be seen.
    """
    before = {name: _switches(pids) for name, pids in processes.items()}
    time.sleep(_WATCH_S)
    rates = {name: (_switches(pids) - before[name]) / _WATCH_S for name, pids in processes.items()}
    return {name: max(1, round(rate / SWITCH_SAMPLES_PER_S)) | 1 for name, rate in rates.items()}


def _switches(pids: list[int]) -> int:
    """Return the context switches of all threads of the processes since each began."""
    total = 0
    for status in (path for pid in pids for path in Path(f"/proc/{pid}/task").glob("*/status")):
        # A thread may have ended since its folder was listed.
        with suppress(OSError):
            lines = status.read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return total
