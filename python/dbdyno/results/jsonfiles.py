"""The two kinds of file in a run's folder, read with errors that name the file and the line.

A long run holds hundreds of megabytes of JSON; `from_json` reads it in half the time of the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbdyno.errors import UserError
from dbdyno.later import load_compiled

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject

# Their package also declares the types of pydantic's schemas, which takes 25 ms.
from_json: Callable[[bytes], Any] = load_compiled("pydantic_core", "_pydantic_core").from_json
"""Returns the value of a JSON text; raises ValueError if it is none."""
MOST = 10**20
"""Counters of servers have 64 bits, which are 20 digits."""


def read_object(path: Path) -> JsonObject:
    """Read a file that holds one JSON object.

    Raises:
        UserError: it cannot be read, or holds something else.
    """
    try:
        value = from_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path}: is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UserError(f"{path}: does not hold a JSON object")
    if (number := _beyond(value)) is not None:
        what = "infinity" if number == inf else "one of more than 20 digits"
        raise UserError(f"{path}: holds a number that dbdyno never writes: {what}")
    return value


def _beyond(value: Any) -> float | None:
    """Return a number of an object that is infinite, or beyond every counter there is; None if there is none."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as inner:
                waiting += inner.values()
            case list() as inner:
                waiting += inner
            case bool():
                continue
            case int() | float() as number if abs(number) >= MOST:
                return abs(number)
    return None


def read_lines(path: Path, parse: Callable[[bytes], Any] = from_json) -> Iterator[tuple[int, JsonObject]]:
    """Yield the number (from 1) and the object of each line of a `.jsonl` file; of a file that is not there, nothing.

    parse: returns the value of a line; raises ValueError if it is not JSON.

    A last line without its newline that is not JSON was cut short by a kill and is left out.

    Raises:
        UserError: the file cannot be read, or another line is not a JSON object.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    value = parse(line)
                except ValueError as error:
                    if not line.endswith(b"\n"):
                        return
                    raise UserError(f"{path}, line {number}: is not JSON: {error}") from error
                if not isinstance(value, dict):
                    raise UserError(f"{path}, line {number}: is not a JSON object")
                yield number, value
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
