"""Observations as a Parquet table, which any tool reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from dbdyno.errors import UserError
from dbdyno.results.jsonfiles import MOST
from dbdyno.results.samples import AT, Observations


def read_table(path: Path) -> Observations:
    """Read a table.

    Raises:
        UserError: it is not a table of observations, or a value is beyond every counter there is.
    """
    try:
        # `read_table` also imports data sets, and `show` may last 400 ms.
        with parquet.ParquetFile(path) as file:
            table = file.read(use_threads=False)
        columns = {name: _bounded(name, _floats(table.column(name))) for name in table.column_names}
        return Observations(columns.pop(AT), columns)
    except (OSError, KeyError, ValueError, TypeError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: cannot be read as observations: {error}") from error


def _bounded(name: str, values: np.ndarray) -> np.ndarray:
    if (np.abs(values) >= MOST).any():
        raise ValueError(f"{name} has a value that dbdyno never writes")
    return values


def _floats(column: pyarrow.ChunkedArray) -> np.ndarray:
    """Return a column as floats, what is null as NaN.

    `to_numpy` does the same, but imports pandas if that is installed.
    """
    if column.type != pyarrow.float64():
        return np.asarray(column.to_numpy(), float)
    return np.concatenate([np.zeros(0), *(_floats_of_chunk(chunk) for chunk in column.chunks if len(chunk))])


def _floats_of_chunk(chunk: pyarrow.DoubleArray) -> np.ndarray:
    validity, values = chunk.buffers()
    part = slice(chunk.offset, chunk.offset + len(chunk))
    floats = np.frombuffer(values, float)[part]
    if validity is None:
        return floats
    is_valid = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[part]
    return np.where(is_valid, floats, np.nan)


def write_table(path: Path, observations: Observations) -> None:
    """Write a table whole, what was not seen as null; raises OSError if that cannot be done."""
    named = {AT: observations.at_unix_s, **observations.columns}
    table = pyarrow.table({name: pyarrow.array(values, from_pandas=True) for name, values in named.items()})
    partial = path.with_name(path.name + ".partial")
    # Values hardly ever repeat, and a dictionary for each column would double a small table.
    parquet.write_table(table, partial, compression="zstd", use_dictionary=False)
    partial.replace(path)
