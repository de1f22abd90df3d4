"""The loopback's round trip: one byte over TCP to another process and back, wherever the scheduler puts the two, on one
processor, and on two. It is what a request to a store on this host costs before the store has done anything.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Set
from contextlib import contextmanager
from functools import partial

from dbdyno.observe.gauges import echo
from dbdyno.observe.gauges.spread import spread_us
from dbdyno.results.environment import MeasuredLoopback, MeasuredTimes

PATIENCE_S = 5.0
"""A byte that is not back by then will not come."""
WARM = 20
"""Round trips before those that count."""


def measure_loopback(seconds: float) -> MeasuredLoopback:
    """Return the round trips' times: `unpinned`, `same_cpu` and `two_cpus`, each for `seconds`.

    `two_cpus` is None if there is one processor to use. Raises OSError if the other process cannot be reached.
    """
    usable = os.sched_getaffinity(0)
    first, *others = sorted(usable)
    with _echo() as (connection, other_pid):
        measured = partial(_round_trips, connection, other_pid, seconds)
        try:
            return {
                "unpinned": measured(usable, usable),
                "same_cpu": measured({first}, {first}),
                "two_cpus": measured({first}, {others[0]}) if others else None,
            }
        finally:
            os.sched_setaffinity(0, usable)


@contextmanager
def _echo() -> Iterator[tuple[socket.socket, int]]:
    """Yield a connection to another process that sends everything back, and its pid. It ends when that is closed."""
    with subprocess.Popen([sys.executable, "-I", echo.__file__], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None, "it is a pipe"
            said = process.stdout.readline()
            if not said:
                raise OSError(f"the echo process ended with status {process.wait()} before it listened")
            with socket.create_connection(("127.0.0.1", int(said)), PATIENCE_S) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                yield connection, process.pid
        finally:
            process.kill()


def _round_trips(
    connection: socket.socket, other_pid: int, seconds: float, ours: Set[int], theirs: Set[int]
) -> MeasuredTimes:
    os.sched_setaffinity(0, ours)
    os.sched_setaffinity(other_pid, theirs)
    return round_trips(connection, seconds)


def round_trips(connection: socket.socket, seconds: float) -> MeasuredTimes:
    """Return the times of a byte to the other end and back, for `seconds`; raises OSError if it does not come back."""
    times: list[int] = []
    at_ns: list[int] = []
    end = time.monotonic_ns() + int(seconds * 1e9)
    while len(times) <= WARM or time.monotonic_ns() < end:
        began = time.monotonic_ns()
        connection.sendall(b"?")
        if not connection.recv(1):
            raise OSError("the other end closed the connection")
        times.append(time.monotonic_ns() - began)
        at_ns.append(began)
    return spread_us(times[WARM:], at_ns[WARM:])
