"""Turns errors from foreign content of a run's folder into words, wherever they first occur."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from dbdyno.errors import UserError

WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, MemoryError)
"""Errors of computing with values whose type, size or position differs from those that dbdyno writes."""
_MOST_SAID = 160


@contextmanager
def understood(*folders: Path) -> Iterator[None]:
    """Turn what goes wrong inside, with figures from these folders, into a UserError that names them.

    The place in dbdyno is named too: if dbdyno wrote those figures, the error is its own.
    """
    try:
        yield
    except WRONG as error:
        frame = extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__} {error}"[:_MOST_SAID].replace("\n", " ")
        raise UserError(
            f"{', '.join(map(str, folders))}: cannot be understood: it holds a value that dbdyno never writes "
            f"({said}; {Path(frame.filename).name}:{frame.lineno})"
        ) from error
