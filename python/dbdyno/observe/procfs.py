"""Small files of the kernel, read once a second or more often, so by the shortest way."""

import os

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_CHUNK = 4096
"""Nearly all of these files are smaller; lists of records come a page at a time, whatever is asked for."""

NotSeen = dict[str, str]
"""What cannot be observed here: a band or a column of it, and why. A sampler that is made adds what it cannot see."""


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


def fields_of_stat(stat: bytes) -> list[bytes]:
    """Return the fields of `/proc/PID/stat` behind the name, which may hold spaces: the state (field 3) is number 0."""
    return stat[stat.rindex(b")") + 2 :].split()
