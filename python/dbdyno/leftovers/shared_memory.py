"""The shared memory of a PostgreSQL server that was killed: nobody else removes it.

The server keeps a small System V segment, whose number is in the data directory's `postmaster.pid`. The segment's
header names the control segment in /dev/shm, and that lists the others. The server itself cleans up the same way when
it is started again (`PGSharedMemoryCreate` and `dsm_cleanup_using_control_segment` in PostgreSQL's sources).
"""

import ctypes
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SEGMENTS = Path("/dev/shm")
_PREFIX = "PostgreSQL."
_MAGIC = 679834894
"""`PGShmemMagic`, the first word of the System V segment."""
_HEADER = struct.Struct("@iiNNI")
"""magic, the creator's pid, total size, offset, handle of the control segment (`PGShmemHeader`)."""
_CONTROL_MAGIC = 0x9A503D32
"""`PG_DYNSHMEM_CONTROL_MAGIC`, the first word of the control segment."""
_MOST_BYTES = 1 << 20
"""The part of a segment that is read: with `shared_memory_type=sysv` the first is as large as all buffers."""
_SHM_RDONLY, _IPC_RMID = 0o10000, 0


def remove_shared_memory(data: Path) -> None:
    """Remove the shared memory of the server whose data directory this is; nothing if it lives or left none.

    Nothing else is touched: the System V segment must have been created by the process that `postmaster.pid` names,
    under the key it names, and nobody may be attached.
    """
    with suppress(OSError, ValueError, IndexError, KeyError, struct.error):
        lines = (data / "postmaster.pid").read_text().splitlines()
        # A server without a postmaster (`--single`) is written down with a minus.
        creator, (key, number) = abs(int(lines[0])), map(int, lines[6].split())
        segments = _segments()
        main = segments[_word(key)]
        if (main.number, main.creator) != (number, creator):
            return
        magic, pid, _, _, handle = _HEADER.unpack_from(main.content())
        main.remove()
        if magic == _MAGIC and pid == creator and handle:
            _remove_dynamic(handle, segments)


@dataclass(frozen=True)
class _Segment:
    """A System V segment that nobody is attached to."""

    number: int
    creator: int
    size_bytes: int

    def content(self) -> bytes:
        """Return what is in it; raises OSError if it cannot be read."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        address = libc.shmat(self.number, None, _SHM_RDONLY)
        if address == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "a shared memory segment cannot be attached")
        try:
            return ctypes.string_at(address, min(self.size_bytes, _MOST_BYTES))
        finally:
            libc.shmdt(ctypes.c_void_p(address))

    def remove(self) -> None:
        """Remove it."""
        ctypes.CDLL(None).shmctl(self.number, _IPC_RMID, None)


def _segments() -> dict[int, _Segment]:
    """Return System V's segments that nobody is attached to, by key."""
    names, *rows = (line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines())
    every = (dict(zip(names, map(int, row), strict=True)) for row in rows)
    return {_word(row["key"]): _Segment(row["shmid"], row["cpid"], row["size"]) for row in every if row["nattch"] == 0}


def _word(key: int) -> int:
    """Return a key without its sign: some write it with one."""
    return key % (1 << 32)


def _key(handle: int) -> int:
    """Return the key of the System V segment with a handle: the server has none below 1."""
    return min(handle, _word(-handle))


def _remove_dynamic(control: int, segments: dict[int, _Segment]) -> None:
    """Remove the control segment and those it lists, files in /dev/shm or System V's.

    Its entries differ between versions, but each begins with a handle, which is the number in a segment's name, or its
    key. So a segment is one of these if its handle is a word of the control segment: handles are 32 random bits.
    """
    file = SEGMENTS / f"{_PREFIX}{control}"
    content = file.read_bytes() if file.exists() else segments[_key(control)].content()
    words = struct.unpack_from(f"@{len(content) // 4}I", content)
    if words[0] == _CONTROL_MAGIC:
        for handle in {control, *words[1:]}:
            (SEGMENTS / f"{_PREFIX}{handle}").unlink(missing_ok=True)
            # A zero is no handle: private segments have that key.
            if handle and _key(handle) in segments:
                segments[_key(handle)].remove()
