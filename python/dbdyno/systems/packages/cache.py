"""The packages in the user's cache directory, each in a folder such as `mysql@5.6/`."""

import fcntl
import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dbdyno.errors import UserError
from dbdyno.systems.packages.package import Package

CACHE_VARIABLE = "DBDYNO_CACHE_DIR"
_MARK = ".complete"
"""Written when everything is in place: a folder without it was cut short."""


def cache_folder() -> Path:
    """Return the folder that packages are kept in: DBDYNO_CACHE_DIR, else `dbdyno` in the user's cache directory.

    root's home is closed to the user that root's servers run as, so root has a place that is not.
    """
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given).expanduser()
    if os.geteuid() == 0:
        return Path("/var/cache/dbdyno")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dbdyno"


@dataclass(frozen=True)
class Installation:
    """An unpacked package."""

    package: Package
    folder: Path

    def broken(self) -> str | None:
        """Return which of its files is not as it was installed, or None if all are."""
        for name, size_bytes in _sizes_noted(self.folder).items():
            # Plain strings: a package has up to 1,000 files, and a list looks at those of all packages.
            path = f"{self.folder}/{name}"
            there = _size(path)
            if there != size_bytes:
                is_now = "is missing" if there is None else "is empty" if there == 0 else f"has {there} bytes"
                return f"{path} {is_now}, not {size_bytes} bytes" if there else f"{path} {is_now}"
        return None

    def refuse_broken(self) -> None:
        """Raise UserError if one of its files is not as it was installed."""
        if reason := self.broken():
            raise UserError(f"{self.package.name} is broken: {reason}; `dbdyno systems install {self.package.name}`")

    def program(self, name: str) -> list[str]:
        """Return the beginning of the command line that runs one of its programs with its own libraries.

        Raises UserError if the installation is broken.
        """
        self.refuse_broken()
        program = str(self.folder / self.package.programs[name])
        if not self.package.library_folder:
            return [program]
        return ["env", f"LD_LIBRARY_PATH={self.folder / self.package.library_folder}", program]


def folder_of(package: Package) -> Path:
    """Return where a package is, or would be."""
    return cache_folder() / package.name


def download_folder(package: Package) -> Path:
    """Return where a package's client leaves what it gets."""
    return cache_folder() / "downloads" / package.name


def partial_folder(package: Package) -> Path:
    """Return where a package is put together."""
    return cache_folder() / f"{package.name}.partial"


def installed(package: Package) -> Installation | None:
    """Return the installation of a package, or None if it is not there, or only in part."""
    folder = folder_of(package)
    return Installation(package, folder) if (folder / _MARK).is_file() else None


def _sizes_noted(folder: Path) -> dict[str, int]:
    """Return what was noted of an installation's files when it was complete: name to bytes."""
    mark = folder / _MARK
    text = mark.read_text() if mark.is_file() else ""
    # Earlier versions of dbdyno noted nothing.
    return json.loads(text) if text else {}


def _size(path: str) -> int | None:
    """Return the bytes of a file, or None if there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _sizes(folder: Path) -> dict[str, int]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}


@contextmanager
def locked(package: Package) -> Iterator[None]:
    """Let nobody else install or remove a package meanwhile; waits for whoever does."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / f"{package.name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def publish(partial: Path, package: Package) -> Installation:
    """Give a folder that is complete its name; what had it before is gone."""
    (partial / _MARK).write_text(json.dumps(_sizes(partial)))
    folder = folder_of(package)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    return Installation(package, folder)


def remove(package: Package) -> int:
    """Remove a package, and what is left of getting it, and return how many bytes that freed.

    Raises UserError if nothing of it is there.
    """
    with locked(package):
        return _remove(package)


def _remove(package: Package) -> int:
    places = (folder_of(package), partial_folder(package), download_folder(package))
    folders = [folder for folder in places if folder.is_dir()]
    if not folders:
        raise UserError(f"{package.name} is not installed in {cache_folder()}")
    every = (path for folder in folders for path in folder.rglob("*"))
    size_bytes = sum(path.lstat().st_size for path in every if not path.is_dir())
    for folder in folders:
        shutil.rmtree(folder)
    return size_bytes
