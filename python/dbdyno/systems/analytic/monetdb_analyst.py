"""A whole table in MonetDB/e, by its C interface; runs in a child process (`child_analyst.py`).

The package's own Python module wants pandas and another version of Python; the library in it wants neither.
"""

import ctypes
from collections.abc import Callable, Sequence
from datetime import date
from math import isnan
from pathlib import Path
from typing import Any

from dbdyno.analytics.table import Column, Table
from dbdyno.errors import RunFailed

_LIBRARIES = ("pcre", "stream", "mapi", "bat", "monetdb5", "monetdbsql", "monetdbe")
"""In the order in which each needs those before it: they do not find one another by themselves."""
_TYPES = {"integer": "INT", "tiny": "TINYINT", "date": "DATE"}


class _Options(ctypes.Structure):
    """`monetdbe_options` of release Jul2021; 0 is the default."""

    _fields_ = (
        ("memory_limit_mib", ctypes.c_int),
        ("query_timeout", ctypes.c_int),
        ("session_timeout", ctypes.c_int),
        ("threads", ctypes.c_int),
        ("remote", ctypes.c_void_p),
        ("mapi_server", ctypes.c_void_p),
        ("later", ctypes.c_void_p * 4),
    )


class _Result(ctypes.Structure):
    """`monetdbe_result`."""

    _fields_ = (("rows", ctypes.c_int64), ("columns", ctypes.c_size_t))


class _Column(ctypes.Structure):
    """The beginning that all kinds of `monetdbe_column` have in common."""

    _fields_ = (("type", ctypes.c_int), ("data", ctypes.c_void_p), ("count", ctypes.c_size_t))


class _Date(ctypes.Structure):
    """`monetdbe_data_date`; day 0 is null."""

    _fields_ = (("day", ctypes.c_ubyte), ("month", ctypes.c_ubyte), ("year", ctypes.c_short))


def _integer(size_bytes: int) -> Callable[[int, int], Any]:
    """Return a reader of whole numbers, of which the least one is null."""

    def read(data: int, row: int) -> int | None:
        raw = ctypes.string_at(data + row * size_bytes, size_bytes)
        value = int.from_bytes(raw, "little", signed=True)
        return None if value == -(1 << (8 * size_bytes - 1)) else value

    return read


def _double(data: int, row: int) -> float | None:
    value = (ctypes.c_double * (row + 1)).from_address(data)[row]
    return None if isnan(value) else value


def _text(data: int, row: int) -> str | None:
    value = (ctypes.c_char_p * (row + 1)).from_address(data)[row]
    return None if value is None else value.decode()


def _date(data: int, row: int) -> date | None:
    parts = (_Date * (row + 1)).from_address(data)[row]
    return date(parts.year, parts.month, parts.day) if parts.day else None


_READERS: dict[int, Callable[[int, int], Any]] = {
    **{kind: _integer(size_bytes) for kind, size_bytes in ((0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 16))},
    8: _double,
    9: _text,
    11: _date,
}
"""By the numbers of `monetdbe_types`: bool, the whole numbers, double, text and date. Queries return nothing else."""


class MonetDBAnalyst:
    """The database in `folder`, opened by the libraries that are in `library`."""

    by = "COPY INTO, a file each"

    def __init__(self, folder: Path, library: Path, settings: dict[str, int]) -> None:
        for name in _LIBRARIES:
            (path,) = (library / "lib").glob(f"lib{name}-*")
            self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        for name in ("query", "result_fetch", "cleanup_result", "error"):
            getattr(self._library, f"monetdbe_{name}").restype = ctypes.c_char_p
        self._data, self._database = folder / "data", ctypes.c_void_p()
        options = _Options(settings["memory_limit_mib"], 0, 0, settings["threads"])
        data = str(self._data).encode()
        if self._library.monetdbe_open(ctypes.byref(self._database), data, ctypes.byref(options)):
            said = self._library.monetdbe_error(self._database) if self._database else b"no word"
            raise RunFailed(f"the database cannot be opened: {said.decode(errors='replace')}")

    def create(self, table: Table) -> None:
        columns = ", ".join(f'"{column.name}" {_type(column)}' for column in table.columns)
        self.ask(f"CREATE TABLE {table.name} ({columns})")

    def load(self, table: Table, paths: Sequence[Path]) -> None:
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        for path in paths:
            self.ask(
                f"COPY OFFSET 2 INTO {table.name} ({names}) FROM '{path}' ({names}, the_end) "
                "USING DELIMITERS ',', E'\\n', '\"' NULL AS ''"
            )

    def finish(self, table: Table) -> int:
        (size,) = self.ask(
            f"SELECT CAST(SUM(columnsize + heapsize) AS BIGINT) FROM sys.storage() WHERE \"table\" = '{table.name}'"
        )[0]
        return int(size)

    def ask(self, sql: str) -> Sequence[Sequence[Any]]:
        result = ctypes.POINTER(_Result)()
        self._check(self._library.monetdbe_query(self._database, sql.encode(), ctypes.byref(result), None))
        if not result:
            return ()
        try:
            columns = [self._column(result, number) for number in range(result.contents.columns)]
        finally:
            self._check(self._library.monetdbe_cleanup_result(self._database, result))
        return list(zip(*columns, strict=True))

    def _column(self, result: Any, number: int) -> list[Any]:
        pointer = ctypes.POINTER(_Column)()
        self._check(self._library.monetdbe_result_fetch(result, ctypes.byref(pointer), ctypes.c_size_t(number)))
        column = pointer.contents
        read = _READERS[column.type]
        return [read(column.data, row) for row in range(result.contents.rows)]

    def _check(self, error: bytes | None) -> None:
        if error:
            raise RunFailed(error.decode(errors="replace"))

    def close(self) -> None:
        self._library.monetdbe_close(self._database)


def _type(column: Column) -> str:
    text = "CHAR" if column.kind == "char" else "VARCHAR"
    return _TYPES.get(column.kind) or f"{text}({column.length})"
