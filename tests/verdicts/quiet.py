"""Decide whether the host is quiet enough to measure on: other programs on it are a cause that nobody injected."""

import time
from collections.abc import Callable

import psutil

PATIENCE_S = 10.0
LOOK_S = 0.5
QUIET = 0.1
"""The share of the host's processors that others may use."""


def wait_for_quiet(
    used: Callable[[], float] = lambda: psutil.cpu_percent(LOOK_S) / 100, patience_s: float = PATIENCE_S
) -> float | None:
    """Wait until other programs use few processors; return how many they still use after that, None if it is quiet.

    used: watches the host for a moment and returns the share of its processors in use.
    """
    deadline = time.monotonic() + patience_s
    while (share := used()) > QUIET:
        if time.monotonic() >= deadline:
            return share * psutil.cpu_count()
    return None
