"""The data directory's disk: the time of a random read past the kernel's cache, and of a write with its flush."""

import errno
import mmap
import os
import tempfile
import time
from pathlib import Path
from random import Random

from dbdyno.observe.gauges.spread import spread_us
from dbdyno.results.environment import MeasuredDisk

FILE_BYTES = 16 << 20
BLOCK_BYTES = 4096


def measure_storage(directory: Path, seconds: float) -> MeasuredDisk:
    """Return `read_us` of random blocks of 4 KiB, and `flush_us` of overwriting one and fdatasync, each for `seconds`.

    `direct` is False if the file system does not support O_DIRECT: reads then came from memory. The file, of 16 MiB, is
    without a name from the first moment. Raises OSError if it cannot be made, or there is no room for it.
    """
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(FILE_BYTES >> 20):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
        descriptor, direct = past_the_cache(file.fileno(), os.O_RDONLY)
        try:
            read = spread_us(*_read(descriptor, seconds))
        finally:
            os.close(descriptor)
        return {
            "by": "dbdyno",
            "direct": direct,
            "read_us": read,
            "flush_us": spread_us(*_flush(file.fileno(), seconds)),
        }


def past_the_cache(file: int, mode: int) -> tuple[int, bool]:
    """Open a file again, as os.open's `mode` says, for what goes to the disk itself; and whether that is so."""
    try:
        return os.open(f"/proc/self/fd/{file}", mode | os.O_DIRECT), True
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return os.dup(file), False


def _read(file: int, seconds: float) -> tuple[list[int], list[int]]:
    # O_DIRECT wants an aligned buffer, and a separate page is one.
    buffer, random = mmap.mmap(-1, BLOCK_BYTES), Random(1)
    times: list[int] = []
    at_ns: list[int] = []
    end = time.monotonic_ns() + int(seconds * 1e9)
    while not times or time.monotonic_ns() < end:
        offset = random.randrange(FILE_BYTES // BLOCK_BYTES) * BLOCK_BYTES
        began = time.monotonic_ns()
        os.preadv(file, [buffer], offset)
        times.append(time.monotonic_ns() - began)
        at_ns.append(began)
    return times, at_ns


def _flush(file: int, seconds: float) -> tuple[list[int], list[int]]:
    random = Random(2)
    times: list[int] = []
    at_ns: list[int] = []
    end = time.monotonic_ns() + int(seconds * 1e9)
    while not times or time.monotonic_ns() < end:
        block = random.randbytes(BLOCK_BYTES)
        offset = random.randrange(FILE_BYTES // BLOCK_BYTES) * BLOCK_BYTES
        began = time.monotonic_ns()
        os.pwrite(file, block, offset)
        os.fdatasync(file)
        times.append(time.monotonic_ns() - began)
        at_ns.append(began)
    return times, at_ns
