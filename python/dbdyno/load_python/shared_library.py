"""The C library that a client library has loaded, by the kernel's list of this process's files."""

from __future__ import annotations

from pathlib import Path

from dbdyno.load_python.failure import Ended

NAMES = {"mysqlclient": ("libmariadb", "libmysqlclient"), "psycopg": ("libpq",)}
"""The beginnings of the file names of the C libraries that a client library calls."""


def refuse_another(library: str, path: str, maps: Path = Path("/proc/self/maps")) -> None:
    """Raise Ended unless the C library at a path, and no other of its kind, is loaded.

    maps: the list of files in the memory of this process (proc(5)).
    """
    if library not in NAMES:
        raise Ended("refused", f"{library} has no C library to choose; {' and '.join(NAMES)} have one")
    chosen = str(Path(path).resolve())
    files = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps.open() if line.count("/")}
    others = sorted(file for file in files - {chosen} if Path(file).name.startswith(NAMES[library]))
    if others:
        raise Ended("refused", f"{library} loads {others[0]} and not {path}: give a build of the same library")
    if chosen not in files:
        raise Ended("refused", f"{path} cannot be loaded: run `ldd {path}` to see what it lacks")
