"""Tables, the check of a row against its generator, and its bytes in stores that know only values (crates/model)."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct, error

from dbdyno.load_python.column import Column, Value, Version

Row = tuple[Value | None, ...]

_INT = Struct("<q")
_LENGTH = Struct("<H")
_LONG = Struct("<HI")
_IS_LONG = 0xFFFF
"""Stands for a length that follows in 4 bytes."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A column in which a row differs from its generator."""

    column: str
    expected: str
    actual: str


class Table:
    """A table; column 0 is the primary key.

    filed_under: the index of the column under whose value a key-value store files the row.
    """

    def __init__(self, name: str, columns: tuple[Column, ...], filed_under: int = 0) -> None:
        self.name = name
        self.columns = columns
        self.filed_under = filed_under
        versions = (index for index, column in enumerate(columns) if isinstance(column, Version))
        self._version_at = next(versions, None)
        self.versioned = tuple(column for column in columns if column.versioned)

    def generate(self, key: int, version: int) -> Row:
        """Return row `key` at `version`."""
        return tuple([column.value(key, version) for column in self.columns])

    def version_of(self, row: Row) -> int:
        """Return the version a row says it has; 0 for tables whose rows have none."""
        if self._version_at is None or self._version_at >= len(row):
            return 0
        version = row[self._version_at]
        return version if isinstance(version, int) and version >= 0 else 0

    def check(self, row: Row, key: int) -> Difference | None:
        """Return how `row` differs from row `key` in the version it says it has; None if it does not."""
        if len(row) != len(self.columns):
            return Difference("*", f"{len(self.columns)} columns", f"{len(row)} columns")
        version = self.version_of(row)
        for column, value in zip(self.columns, row, strict=True):
            if not column.accepts(key, version, value):
                expected = str(column.value(key, version))
                return Difference(column.name, expected, "NULL" if value is None else str(value))
        return None

    def store_key(self, filed: Value) -> str:
        """Return the name under which a key-value store files the row whose `filed_under` is `filed`."""
        return f"dbdyno:{self.name}:{filed}"

    def store_key_of(self, key: int) -> str:
        """Return the name under which a key-value store files row `key`."""
        return self.store_key(self.columns[self.filed_under].value(key, 0))

    def encode(self, row: Row) -> bytes:
        """Return the row's bytes: integers as 8 bytes little-endian, text as its length and its characters.

        A length takes 2 bytes, little-endian; from 65,535 on these are all ones, and 4 bytes with the length follow.
        """
        parts = []
        for value in row:
            if isinstance(value, int):
                parts.append(_INT.pack(value))
            else:
                text = str(value).encode()
                short = len(text) < _IS_LONG
                parts += (_LENGTH.pack(len(text)) if short else _LONG.pack(_IS_LONG, len(text)), text)
        return b"".join(parts)

    def decode(self, data: bytes) -> Row | None:
        """Return the row that `encode` made `data` of; None if it is none."""
        row: list[Value | None] = []
        at = 0
        try:
            for column in self.columns:
                if column.is_int:
                    row.append(_INT.unpack_from(data, at)[0])
                    at += 8
                else:
                    length, begin = _LENGTH.unpack_from(data, at)[0], at + _LENGTH.size
                    if length == _IS_LONG:
                        length, begin = _LONG.unpack_from(data, at)[1], at + _LONG.size
                    at = begin + length
                    # Any byte is a character in Latin-1: what is not ASCII is no row of ours, and the check says so.
                    row.append(str(data[begin:at], "latin-1"))
        except error:
            return None
        return tuple(row) if at == len(data) else None
