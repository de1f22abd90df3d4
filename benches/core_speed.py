"""How fast processors go at the moment: on a shared machine that changes by tens of per cent from second to second.

What other guests of the host do to the core a virtual processor is on (its other hardware thread, its clock) is not
told to this one: it is no steal. It is what any work takes longer for, so a little work of a known amount, done all the
while beside what is measured and on the same processor, shows it.
"""

import multiprocessing
import os
import random
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.sharedctypes import RawArray

import numpy as np
from numpy.typing import NDArray

PAUSE_S = 0.002
"""Between two rounds of 0.1 to 0.2 ms: what changes between rounds is not seen, and more rounds are in the way."""
MESSAGES, STEPS, LOOKS = 25, 1700, 500
"""The work of a round, like a database's around what is measured: socket calls of the kernel, branches, memory reads. A
round of branches alone slows down less than a server does."""
_KEYS = 20_000


class SpeedGauge:
    """Counts rounds of the same work on each processor, and the processor time they took."""

    def __init__(self, rounds: "RawArray[float]", cpu_s: "RawArray[float]") -> None:
        """Read what the gauging processes write."""
        self._rounds, self._cpu_s = rounds, cpu_s

    def so_far(self) -> NDArray[np.float64]:
        """Return the rounds so far and their processor time in s, a column for each processor."""
        return np.array([self._rounds, self._cpu_s])


def speed(earlier: NDArray[np.float64], later: NDArray[np.float64]) -> float:
    """Return rounds per s of processor time between two readings: the mean of the processors, whose work adds up."""
    rounds, cpu_s = later - earlier
    return float(np.mean(rounds / cpu_s))


@contextmanager
def gauging(cpus: Sequence[int]) -> Iterator[SpeedGauge]:
    """Gauge these processors meanwhile, which takes 4 to 6 % of each."""
    context = multiprocessing.get_context("fork")
    rounds, cpu_s = RawArray("d", len(cpus)), RawArray("d", len(cpus))
    with ExitStack() as stack:
        for index, cpu in enumerate(cpus):
            process = context.Process(target=_gauge, args=(cpu, index, rounds, cpu_s, os.getpid()), daemon=True)
            process.start()
            stack.callback(process.join)
            stack.callback(process.kill)
        yield SpeedGauge(rounds, cpu_s)


def _gauge(cpu: int, index: int, rounds: "RawArray[float]", cpu_s: "RawArray[float]", bench_pid: int) -> None:
    os.sched_setaffinity(0, {cpu})
    sender, receiver = socket.socketpair()
    memory = {key: str(key) for key in range(_KEYS)}
    keys = random.Random(1).choices(range(_KEYS), k=LOOKS)
    message = bytes(100)
    while os.getppid() == bench_pid:
        began = time.thread_time()
        for _ in range(MESSAGES):
            sender.send(message)
            receiver.recv(4096)
        for _ in range(STEPS):
            pass
        for key in keys:
            memory[key]
        cpu_s[index] += time.thread_time() - began
        rounds[index] += 1
        time.sleep(PAUSE_S)
