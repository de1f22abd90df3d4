"""Any tool reads the table, and what is no table is said to be none."""

import numpy as np
import pytest
from pyarrow import parquet

from dbdyno.errors import UserError
from dbdyno.results.observations_table import read_table, write_table
from dbdyno.results.samples import Observations


def test_what_was_not_seen_is_null_to_any_tool(tmp_path):
    path = tmp_path / "observations.parquet"
    write_table(path, Observations(np.array([1.0, 2.0]), {"host.a": np.array([2.0, np.nan])}))
    assert parquet.read_table(path).to_pydict() == {"at_unix_s": [1, 2], "host.a": [2, None]}
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("content", [b"", b"PAR1 no PAR1"])
def test_a_file_that_is_no_table_is_named(tmp_path, content):
    path = tmp_path / "observations.parquet"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"observations\.parquet"):
        read_table(path)


def test_a_table_of_something_else_is_named(tmp_path):
    path = tmp_path / "observations.parquet"
    write_table(path, Observations(np.array([1.0]), {}))
    parquet.write_table(parquet.read_table(path).rename_columns(["when"]), path)
    with pytest.raises(UserError, match="at_unix_s"):
        read_table(path)
