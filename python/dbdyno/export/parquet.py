"""A table as a Parquet file, which pandas, Polars, DuckDB, Spark and R read with its types."""

from __future__ import annotations

import io

from pyarrow import parquet

from dbdyno.tables.table import Table


def to_parquet(table: Table) -> bytes:
    """Return a table as a Parquet file, compressed with zstd."""
    file = io.BytesIO()
    parquet.write_table(table.to_arrow(), file, compression="zstd")
    return file.getvalue()
