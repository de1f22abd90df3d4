"""The workload `wide-rows`: tables of few and of many columns, scanned whole.

Every number has two digits and every text its full length, so that a table's lines are all of one length and are
written as one array of bytes.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dbdyno.analytics.analysis import Analysis, Options
from dbdyno.analytics.files import BATCH_ROWS, Batch, Tell
from dbdyno.analytics.table import Column, Query, Table

LAYOUTS: dict[str, tuple[Column, ...]] = {
    "tinyint": (Column("c1", "tiny"),),
    "tinyint-char": (Column("c1", "tiny"), Column("c2", "char", 99)),
    "tinyints": tuple(Column(f"c{number}", "tiny") for number in range(1, 101)),
    "tinyints-varchar": (*(Column(f"c{number}", "tiny") for number in range(1, 100)), Column("c100", "text", 1)),
}
"""The columns of each layout: the last three hold 100 bytes, in 2 columns and in 100."""
TABLE = "dbdyno_wide"
NEVER = {"tiny": "7", "char": "'-'", "text": "'-'"}
"""A value that no row has, by kind: to look for it is to look at every row."""
CHUNK_ROWS = 50_000
"""Rows made at once: what bounds memory."""


class WideRows(Analysis):
    """One of the layouts."""

    row_bytes = 350
    """Seen: 312 in a file of 100 numbers, which takes more than any store."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._table = Table(TABLE, LAYOUTS[options.get("layout", "tinyint")])

    @property
    def table(self) -> Table:
        return self._table

    def source(self, rows: int, seed: int) -> str:
        return f"generated, seed {seed}"

    def files(self, rows: int, seed: int, folder: Path, tell: Tell) -> Iterator[Batch]:
        del tell
        for begin in range(0, rows, BATCH_ROWS):
            count = min(BATCH_ROWS, rows - begin)
            path = folder / f"{begin}.csv"
            write_file(path, self.table.columns, (seed, begin), count)
            yield [(path, count)]

    def queries(self, rows: int) -> tuple[Query, ...]:
        columns = self.table.columns
        first, last, width = columns[0], columns[-1], len(columns)
        every = ", ".join(f"{'MAX' if column.is_text else 'SUM'}({column.name})" for column in columns)
        return (
            Query("first", "how many rows have a value in the first column that none has", _count(first), 1),
            Query("last", "the same of the last column", _count(last), 1),
            Query("all", "the sum of every column, of texts the greatest", f"SELECT {every} FROM {TABLE}", width),
        )


def _count(column: Column) -> str:
    return f"SELECT COUNT(*) FROM {TABLE} WHERE {column.name} = {NEVER[column.kind]}"


def write_file(path: Path, columns: tuple[Column, ...], seed: tuple[int, ...], rows: int) -> None:
    """Write rows as CSV, with a header, and like it each line ends with a comma; memory is that of one chunk."""
    with path.open("wb") as file:
        file.write((",".join(column.name for column in columns) + ",\n").encode())
        for begin in range(0, rows, CHUNK_ROWS):
            random = np.random.default_rng((*seed, begin))
            file.write(_lines(random, columns, min(CHUNK_ROWS, rows - begin)).tobytes())


def _lines(random: np.random.Generator, columns: tuple[Column, ...], rows: int) -> np.ndarray:
    """Return the text of so many rows, as bytes: an array of rows and their characters."""
    comma = np.full((rows, 1), ord(","), np.uint8)
    parts = [part for column in columns for part in (_values(random, column, rows), comma)]
    return np.hstack([*parts, np.full((rows, 1), ord("\n"), np.uint8)])


def _values(random: np.random.Generator, column: Column, rows: int) -> np.ndarray:
    if column.is_text:
        return random.integers(ord("A"), ord("Z") + 1, (rows, column.length), np.uint8)
    tens = random.integers(ord("1"), ord("9") + 1, (rows, 1), np.uint8)
    return np.hstack([tens, random.integers(ord("0"), ord("9") + 1, (rows, 1), np.uint8)])
