"""Small files of the kernel, read once a second or more often, so by the shortest way."""

import os
import resource
import threading
from functools import cache

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_CHUNK = 4096
"""Nearly all of these files are smaller; lists of records come a page at a time, however much is requested."""

NotSeen = dict[str, str]
"""Bands and columns that cannot be observed here, each with the reason. A new sampler adds those it cannot see."""


def read(path: str) -> bytes:
    """Return a file's content; raises OSError. Half the time of `open`, which buffers and decodes."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = chunk = os.read(descriptor, _CHUNK)
        while chunk:
            chunk = os.read(descriptor, _CHUNK)
            content += chunk
        return content
    finally:
        os.close(descriptor)


class Kept:
    """Small files of the kernel, kept open as far as there is room: read anew, each tells what is true then.

    Takes less than half the time of `read`, for files that are read again and again. If its process has ended, the file
    is closed when it is read the next time, or with all the others.
    """

    _counting = threading.Lock()
    _open_in_all = 0

    def __init__(self) -> None:
        """Open nothing yet."""
        self._open: dict[str, int] = {}

    def read(self, path: str) -> bytes:
        """Return the first page of a file; raises OSError, also if what it tells of has ended."""
        descriptor = self._open.get(path)
        if descriptor is None:
            if Kept._open_in_all >= _most_open():
                return read(path)
            descriptor = self._open[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._count(1)
        try:
            return os.pread(descriptor, _CHUNK, 0)
        except OSError:
            self._close(path)
            raise

    def close(self) -> None:
        """Close all of them; they can be read again."""
        for path in list(self._open):
            self._close(path)

    def _close(self, path: str) -> None:
        os.close(self._open.pop(path))
        self._count(-1)

    def _count(self, more: int) -> None:
        with self._counting:
            Kept._open_in_all += more


@cache
def _most_open() -> int:
    """Half of what this process may have open, which is often 1,024; raising it would raise its servers' limits too."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2


def fields_of_stat(stat: bytes) -> list[bytes]:
    """Return the fields of `/proc/PID/stat` behind the name, which may hold spaces: the state (field 3) is number 0."""
    return stat[stat.rindex(b")") + 2 :].split()
