"""The data directory's disk under several threads: bytes written and read in order, and blocks written at random."""

import mmap
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from dbdyno.observe.gauges.spread import rate_of
from dbdyno.observe.gauges.storage import BLOCK_BYTES, past_the_cache
from dbdyno.results.environment import MeasuredParallelDisk, MeasuredRate

PART_BYTES = 16 << 20
"""Each thread's part of the file."""
ORDERED_BYTES = 1 << 20
WORKERS = 4
_Step = Callable[[], object]


def measure_parallel_disk(directory: Path, seconds: float) -> MeasuredParallelDisk:
    """Return what four threads do at once, for `seconds` each: `write` and `read` in order, `random_write` of 4 KiB.

    Rates are bytes per second; of random writes, writes per second. They go past the kernel's cache, unless the file
    system does not support O_DIRECT: `direct` is False then. No write waits for a flush. The file, of 64 MiB, is
    without a name from the first moment. Raises OSError if it cannot be made, or there is no room for it.
    """
    with tempfile.TemporaryFile(dir=directory) as file:
        os.posix_fallocate(file.fileno(), 0, PART_BYTES * WORKERS)
        descriptor, direct = past_the_cache(file.fileno(), os.O_RDWR)
        try:
            # A whole pass at least: what was never written is not read from a disk.
            whole = PART_BYTES // ORDERED_BYTES
            write = _together(lambda worker: _in_order(worker, os.pwritev, descriptor), seconds, ORDERED_BYTES, whole)
            read = _together(lambda worker: _in_order(worker, os.preadv, descriptor), seconds, ORDERED_BYTES)
            random_write = _together(lambda worker: _at_random(worker, descriptor), seconds, 1)
        finally:
            os.close(descriptor)
    return {"workers": WORKERS, "direct": direct, "write": write, "read": read, "random_write": random_write}


def _together(begin: Callable[[int], _Step], seconds: float, each: int, least: int = 1) -> MeasuredRate:
    """Return the rate of all threads at once; each: what one operation counts. least: operations of each thread."""
    began_ns = time.monotonic_ns()
    end_ns = began_ns + int(seconds * 1e9)

    def work(worker: int) -> list[int]:
        step, done_ns = begin(worker), list[int]()
        while len(done_ns) < least or time.monotonic_ns() < end_ns:
            step()
            done_ns.append(time.monotonic_ns())
        return done_ns

    with ThreadPoolExecutor(WORKERS) as pool:
        done_ns = [at_ns for of_worker in pool.map(work, range(WORKERS)) for at_ns in of_worker]
    return rate_of(done_ns, began_ns, each)


def _in_order(worker: int, transfer: Callable[[int, list[mmap.mmap], int], int], descriptor: int) -> _Step:
    buffer, first = _buffer(ORDERED_BYTES), worker * PART_BYTES
    offset = 0

    def step() -> None:
        nonlocal offset
        transfer(descriptor, [buffer], first + offset)
        offset = (offset + ORDERED_BYTES) % PART_BYTES

    return step


def _at_random(worker: int, descriptor: int) -> _Step:
    buffer, random, first = _buffer(BLOCK_BYTES), Random(worker), worker * PART_BYTES
    blocks = PART_BYTES // BLOCK_BYTES
    return lambda: os.pwritev(descriptor, [buffer], first + random.randrange(blocks) * BLOCK_BYTES)


def _buffer(size_bytes: int) -> mmap.mmap:
    """Return bytes that no disk can make less of, aligned as O_DIRECT wants it."""
    buffer = mmap.mmap(-1, size_bytes)
    buffer.write(os.urandom(size_bytes))
    return buffer
