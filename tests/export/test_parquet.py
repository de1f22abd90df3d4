"""Parquet that is read back with types and values."""

import io

from pyarrow import parquet

from dbdyno.export.parquet import to_parquet
from dbdyno.tables.trials import trials_of


def test_it_is_read_back(run):
    table = trials_of([run])
    assert parquet.read_table(io.BytesIO(to_parquet(table))).equals(table.to_arrow())
