"""Limits that the host sets for this program: processors, and a life no longer than its parent's."""

from __future__ import annotations

import ctypes
import os
import sys

from dbdyno.load_python.failure import Ended

_PR_SET_PDEATHSIG = 1


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this process a signal when the one that started it is gone, however that went."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0):
        error = os.strerror(ctypes.get_errno())
        print(f"dbdyno-load-python: cannot end with its parent process: {error}", file=sys.stderr)


def pin(cpus: tuple[int, ...]) -> None:
    """Keep this process, and those it will start, on these processors; raises Ended if the host has none of them."""
    try:
        os.sched_setaffinity(0, cpus)
    except (OSError, ValueError) as error:
        raise Ended("refused", f"cpus = {list(cpus)}: this host does not allow it: {error}") from None


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))
