"""Bounds on what a hostile server can do to a client library: memory for its answers, and time for an operation.

No library has them. Time-outs of sockets are for each piece of an answer, and one byte now and then is in time.
"""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ANSWERS_BYTES = 96 << 20
"""Memory of all processes together for answers, beside their libraries."""
LEAST_BYTES = 24 << 20
STACK_BYTES = 1 << 20
"""Stack size of each thread; the usual 8 MiB count as memory."""
COMPLAINTS = 5
GRACE_S = 2.0
"""By which an operation may be longer than its time-out: the library itself is to tell it first."""


def limit_memory(processes: int, threads: int) -> None:
    """Limit this process, one of so many, to its memory now and what answers may take; threads: that it will have."""
    threading.stack_size(STACK_BYTES)
    status = Path("/proc/self/status").read_text()
    (used,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmData:"))
    more = max(LEAST_BYTES, ANSWERS_BYTES // processes) + threads * STACK_BYTES
    limit_data(int(used) * 1024 + more)


def limit_data(limit_bytes: int, pid: int = 0) -> None:
    """Limit a process, or this one, to so much memory of its own; a lower limit of this one stays."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit_bytes < hard:
        resource.prlimit(pid, resource.RLIMIT_DATA, (limit_bytes, hard))


def limit_complaints() -> None:
    """Print errors that libraries raise beyond any handler a few times, not for each piece of an endless answer."""
    left = iter(range(COMPLAINTS))

    def complain(what: sys.UnraisableHookArgs) -> None:
        if next(left, None) is not None:
            print(f"dbdyno-load-python: {what.exc_type.__name__}: {what.exc_value}", file=sys.stderr)

    sys.unraisablehook = complain


@contextmanager
def within(timeout_s: float, give_up: Callable[[], None]) -> Iterator[None]:
    """Call `give_up` on another thread if what is inside has not ended by then; it ends the process."""
    timer = threading.Timer(timeout_s + GRACE_S, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def is_stuck(asking_since_ns: int | None, timeout_s: float) -> bool:
    """Return whether an operation that began then is past its time-out, and the library has not told it."""
    return asking_since_ns is not None and time.monotonic_ns() - asking_since_ns > (timeout_s + GRACE_S) * 1e9


def words(timeout_s: float) -> str:
    """Return what is said of an operation that is past its time-out."""
    return f"no answer was complete within {timeout_s:g} s, and the client library goes on waiting for its end"
