"""The identity of a build, whatever its version says: its content and the linker's build id."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule
from dbdyno.systems.builds.elf import build_id

if TYPE_CHECKING:
    import hashlib
else:
    hashlib = LaterModule("hashlib")


@dataclass(frozen=True)
class Identity:
    """A program's content. build_id: None for a script, or a program that was linked without one."""

    sha256: str
    build_id: str | None


@dataclass(frozen=True)
class Stamp:
    """The file system's data about a file: another stamp means another file, or other content."""

    device: int
    inode: int
    size_bytes: int
    modified_ns: int


def stamp(path: Path) -> Stamp:
    """Return a file's stamp; raises OSError if it is not there."""
    status = path.stat()
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def identify(path: Path) -> Identity:
    """Return which build a program is; its content is read once for each stamp. Raises OSError."""
    return _identify(path, stamp(path))


@lru_cache(maxsize=64)
def _identify(path: Path, of: Stamp) -> Identity:
    del of
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Identity(sha256, build_id(path))
