"""Work that takes its time, and can be cancelled by a signal or for lasting too long."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from dbdyno.conduct.context import Context

POLL_S = 0.1
"""How often a signal is looked for."""

Result = TypeVar("Result")


def wait_for(context: Context, work: Callable[[], Result], cancel: Callable[[], None], timeout_s: float) -> Result:
    """Do some work on its own thread, so that it can be cancelled, and return what it does.

    Raises KeyboardInterrupt after a signal, TimeoutError if it takes longer, both when it has ended.
    """
    deadline = time.monotonic() + timeout_s
    with ThreadPoolExecutor(1) as pool, context.interrupts.noted():
        future = pool.submit(work)
        while not wait([future], POLL_S).done:
            late = time.monotonic() > deadline
            if late or context.interrupts.requested:
                cancel()
                wait([future])
                raise TimeoutError if late else KeyboardInterrupt
        return future.result()
