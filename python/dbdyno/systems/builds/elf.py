"""The machine and the build id that an ELF file states (elf(5))."""

import os
import struct
from pathlib import Path
from typing import BinaryIO

_MAGIC = b"\x7fELF"
_MACHINES = {3: "i386", 8: "MIPS", 21: "ppc64", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
_NOTE, _GNU_BUILD_ID = 4, 3
_MOST_NOTE_BYTES = 1 << 16
_MOST_HEADERS = 1024


def machine(path: Path) -> str | None:
    """Return the processor that a program is for; None if it is no ELF file, such as a script.

    Raises OSError if it cannot be read.
    """
    with path.open("rb") as file:
        begin = file.read(20)
    if len(begin) < 20 or not begin.startswith(_MAGIC):
        return None
    number = int.from_bytes(begin[18:20], "little" if begin[5] == 1 else "big")
    return _MACHINES.get(number, f"machine {number}")


def build_id(path: Path) -> str | None:
    """Return the build id that the linker gave a 64-bit little-endian program; None if it has none.

    Raises OSError if it cannot be read.
    """
    with path.open("rb") as file:
        header = file.read(64)
        if len(header) < 64 or not header.startswith(_MAGIC) or header[4:6] != b"\x02\x01":
            return None
        (offset,) = struct.unpack_from("<Q", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        # A damaged file may state an offset beyond its end: look at no header then.
        size_bytes = os.fstat(file.fileno()).st_size
        for number in range(min(count, _MOST_HEADERS) if offset < size_bytes else 0):
            if identifier := _build_id_in(file, offset + number * size):
                return identifier
    return None


def _build_id_in(file: BinaryIO, offset: int) -> str | None:
    """Return the build id among the notes of the segment whose program header is at `offset`."""
    file.seek(offset)
    if len(header := file.read(56)) < 56:
        return None
    kind, _, begin, _, _, size = struct.unpack_from("<IIQQQQ", header)
    if kind != _NOTE or begin > os.fstat(file.fileno()).st_size:
        return None
    file.seek(begin)
    notes, at = file.read(min(size, _MOST_NOTE_BYTES)), 0
    while at + 12 <= len(notes):
        name_size, value_size, note = struct.unpack_from("<III", notes, at)
        name = at + 12
        value = name + (name_size + 3) // 4 * 4
        if note == _GNU_BUILD_ID and notes[name : name + 4] == b"GNU\0":
            return notes[value : value + value_size].hex()
        at = value + (value_size + 3) // 4 * 4
    return None
