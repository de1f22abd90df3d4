"""Observations as a Parquet table, which any tool reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from dbdyno.errors import UserError
from dbdyno.results.samples import AT, Observations


def read_table(path: Path) -> Observations:
    """Read a table.

    Raises:
        UserError: it is not a table of observations.
    """
    try:
        table = parquet.read_table(path, use_threads=False)
        columns = {name: np.asarray(table.column(name).to_numpy(), float) for name in table.column_names}
        return Observations(columns.pop(AT), columns)
    except (OSError, KeyError, ValueError, TypeError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: cannot be read as observations: {error}") from error


def write_table(path: Path, observations: Observations) -> None:
    """Write a table whole, what was not seen as null; raises OSError where that cannot be done."""
    named = {AT: observations.at_unix_s, **observations.columns}
    table = pyarrow.table({name: pyarrow.array(values, from_pandas=True) for name, values in named.items()})
    partial = path.with_name(path.name + ".partial")
    # Values hardly ever repeat, and a dictionary for each column would double a small table.
    parquet.write_table(table, partial, compression="zstd", use_dictionary=False)
    partial.replace(path)
