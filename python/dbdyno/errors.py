"""The ways dbdyno ends without success; what each says is one or two lines for a person."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dbdyno.later import LaterModule

if TYPE_CHECKING:
    import difflib
else:
    difflib = LaterModule("difflib")


class DbdynoError(Exception):
    """Something a person must be told; `exit_status` is what the command ends with."""

    exit_status = 1


class UserError(DbdynoError):
    """The request cannot be met as it is: a bad key, a missing server, a wrong password."""

    exit_status = 2


class RunFailed(DbdynoError):
    """It was started as asked and did not come to its end: a server died, the disk is full."""

    exit_status = 1


class BuildReplaced(RunFailed):
    """The file of a build changed while a run lasted: its figures would be of two builds."""

    exit_status = 2


class Interrupted(DbdynoError):
    """A signal ended a command, and there is more to say than that."""

    exit_status = 130


def system_words(error: OSError) -> str:
    """Return what the system calls an error, to stand within a sentence: `permission denied`."""
    return (error.strerror or str(error)).lower()


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown word: `; did you mean 'x'?`, or a full stop if nothing is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else "."
