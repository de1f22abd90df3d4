"""Small files of the kernel, read once a second or more often, so by the shortest way."""

import os

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_LARGEST = 1 << 18

NotSeen = dict[str, str]
"""What cannot be observed here: a band or a column of it, and why. A sampler that is made adds what it cannot see."""


def read(path: str) -> bytes:
    """Return a file's content, at most 256 KiB; raises OSError. Half the time of `open`, which buffers and decodes."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _LARGEST)
    finally:
        os.close(descriptor)


def fields_of_stat(stat: bytes) -> list[bytes]:
    """Return the fields of `/proc/PID/stat` behind the name, which may hold spaces: the state (field 3) is number 0."""
    return stat[stat.rindex(b")") + 2 :].split()
