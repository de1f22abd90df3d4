"""The programs that must be the same on every host of a run: Python, dask and both programs of dbdyno."""

import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dbdyno import __version__

_NAMES = {
    "dbdyno": "dbdyno",
    "dbdyno_load": "dbdyno-load (SHA-256)",
    "python": "Python",
    "dask": "dask",
    "distributed": "distributed",
}
_SHOWN = 16


def programs(load_program: Path) -> dict[str, str]:
    """Return the versions on this host; of dbdyno-load, its hash. Raises OSError if it cannot be read."""
    with load_program.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "dbdyno": __version__,
        "dbdyno_load": digest,
        "python": platform.python_version(),
        "dask": _version("dask"),
        "distributed": _version("distributed"),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def why_different(host: str, theirs: Mapping[str, str], ours: Mapping[str, str]) -> str | None:
    """Return the first version in which a host differs from this one, with both; None if all are the same."""
    for key, name in _NAMES.items():
        there, here = str(theirs.get(key, "unknown")), ours[key]
        if there != here:
            return (
                f"{host} has {name} {there[:_SHOWN]}, this host has {here[:_SHOWN]}: install the same version on "
                f"both, and start the worker on {host} again"
            )
    return None
