"""dbdyno: a dynamometer for databases."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from dbdyno.api import OpenedRun

__version__ = "0.1.0"
__all__ = ["open_run"]


def open_run(path: "str | os.PathLike[str]") -> "OpenedRun":
    """Read a run's folder; returns its trials, seconds, observations and histograms as tables (docs/python-api.md).

    Raises dbdyno.errors.UserError if it is not a run's folder or holds a file that cannot be understood.
    """
    # Loaded when it is used: every command imports this module, and few need NumPy.
    opened: OpenedRun = import_module("dbdyno.api").open_run(path)
    return opened
