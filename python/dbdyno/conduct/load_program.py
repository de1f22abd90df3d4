"""Find the program `dbdyno-load` where installers put it: beside a Python, or beside the package."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

LOAD_PROGRAM = "dbdyno-load"
_PACKAGE = Path(__file__).parents[1]


def installed_places(package: Path = _PACKAGE) -> Iterator[Path]:
    """Yield where the load program lies if one wheel holds both programs, the surest place first.

    package: the folder of the package `dbdyno`. Places of `pip install --target` and `--prefix` come first: another
    dbdyno may be beside the Python that runs this one.
    """
    site = package.parent
    yield site / "bin" / LOAD_PROGRAM
    if site.name in ("site-packages", "dist-packages"):
        # PREFIX/lib/python3.X/site-packages; a user's own base and a virtual environment are laid out the same.
        yield site.parents[2] / "bin" / LOAD_PROGRAM
    # The path is not resolved: the Python of a virtual environment is a link to another folder.
    yield Path(sys.executable).with_name(LOAD_PROGRAM)
    yield Path(sysconfig.get_path("scripts")) / LOAD_PROGRAM
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))) / LOAD_PROGRAM


def built_program(package: Path = _PACKAGE) -> Path:
    """Return where a checkout has the program once it was built."""
    return package.parents[1] / "target" / "release" / LOAD_PROGRAM
