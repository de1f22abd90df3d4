"""Reads the records that were appended to a file of JSON lines since the last read."""

from __future__ import annotations

from pathlib import Path

from pydantic_core import from_json

from dbdyno.contract import JsonObject
from dbdyno.errors import UserError


class Tail:
    """A `.jsonl` file that grows. A last line without its end is left for the next time."""

    def __init__(self, path: Path) -> None:
        """Take a file, which need not be there yet."""
        self._path, self._offset = path, 0

    def read(self) -> list[JsonObject]:
        """Return the objects of the lines that are new, of a file that is gone nothing.

        Raises:
            UserError: the file cannot be read, or one of these lines is not a JSON object.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                whole, end, _ = file.read().rpartition(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise UserError(f"{self._path}: cannot be read: {error.strerror}") from error
        self._offset += len(whole) + len(end)
        return [self._object(line) for line in whole.splitlines()]

    def _object(self, line: bytes) -> JsonObject:
        try:
            value = from_json(line)
        except ValueError as error:
            raise UserError(f"{self._path}: a line is not JSON: {error}") from error
        if not isinstance(value, dict):
            raise UserError(f"{self._path}: a line is not a JSON object")
        return value
