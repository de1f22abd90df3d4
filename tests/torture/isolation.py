"""Namespaces of the suite's own, so that what is left there is its runs' and of nobody else on this host.

As root System V objects, /dev/shm, mounts, ports and names of network namespaces are private from then on (unshare(2)).
Otherwise they are the host's, and are only counted while nobody else's dbdyno runs.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

_NEW_MOUNTS, _NEW_IPC, _NEW_NETWORK = 0x00020000, 0x08000000, 0x40000000
_PRIVATE_AND_BELOW = (1 << 18) | (1 << 14)
"""MS_PRIVATE | MS_REC."""
_SET_FLAGS, _UP = 0x8914, 1
"""SIOCSIFFLAGS and IFF_UP (netdevice(7))."""
_PR_SET_CHILD_SUBREAPER = 36
NAMES_OF_NETWORKS = Path("/run/netns")
"""The folder in which ip(8) keeps the names of network namespaces."""


def adopt_orphans() -> None:
    """Let the orphans below this process fall to it; raises OSError if the kernel refuses."""
    _call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def isolate() -> bool:
    """Move this process into namespaces of its own; returns False where that is not permitted."""
    if os.geteuid() != 0:
        return False
    try:
        _call("unshare", _NEW_MOUNTS | _NEW_IPC | _NEW_NETWORK)
        _call("mount", b"none", b"/", None, _PRIVATE_AND_BELOW, None)
        _call("mount", b"torture", b"/dev/shm", b"tmpfs", 0, b"mode=1777")
        NAMES_OF_NETWORKS.mkdir(exist_ok=True)
        _call("mount", b"torture", os.fsencode(NAMES_OF_NETWORKS), b"tmpfs", 0, b"mode=755")
    except OSError:
        return False
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))
    return True


def _call(function: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    wide = [ctypes.c_ulong(argument) if isinstance(argument, int) else argument for argument in arguments]
    if getattr(libc, function)(*wide) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function}: {os.strerror(number)}")
