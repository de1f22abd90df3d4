"""The password of an attached server, as it comes from outside; taken out of what children and others can read."""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.later import LaterModule

if TYPE_CHECKING:
    import ctypes
else:
    ctypes = LaterModule("ctypes")

VARIABLE = "DBDYNO_PASSWORD"
FILE_VARIABLE = "DBDYNO_PASSWORD_FILE"
_OF_OTHERS = ("PGPASSWORD", "MYSQL_PWD", "REDISCLI_AUTH")
"""Passwords of other clients: nothing of dbdyno's reads them, and no child is to have them."""
_MOST_BYTES = 4096

_kept: dict[str, str] = {}


def take_from_environment() -> None:
    """Take passwords out of the environment, so that no child has them, and remember dbdyno's own.

    Their bytes are overwritten too: `/proc/PID/environ` shows the memory that the process began with, and so does that
    of a child between its fork and its exec.
    """
    for name in (VARIABLE, *_OF_OTHERS):
        if (value := os.environ.get(name)) is not None:
            _overwrite(name)
            del os.environ[name]
            if name == VARIABLE:
                _kept[VARIABLE] = value


def _overwrite(name: str) -> None:
    """Overwrite the value of an environment variable where the process keeps it."""
    library = ctypes.CDLL(None)
    library.getenv.restype = ctypes.c_void_p
    if address := library.getenv(name.encode()):
        ctypes.memset(address, ord("*"), len(ctypes.string_at(address)))


def given_password() -> str | None:
    """Return the password that was given from outside, or None.

    Raises UserError if it is given twice, or in a file that others may read.
    """
    take_from_environment()
    file = os.environ.get(FILE_VARIABLE)
    if file is None:
        return _kept.get(VARIABLE)
    if VARIABLE in _kept:
        raise UserError(f"{VARIABLE} and {FILE_VARIABLE} both give a password: leave one out")
    return _read(Path(file))


def _read(path: Path) -> str:
    """Return the first line of a file that nobody else may read; raises UserError for any other."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise UserError(f"{FILE_VARIABLE}: others may read {path}: chmod 600 {path}")
            line = file.readline(_MOST_BYTES)
        return line.rstrip(b"\r\n").decode()
    except (OSError, ValueError) as error:
        raise UserError(f"{FILE_VARIABLE}: {path} cannot be read: {error}") from None
