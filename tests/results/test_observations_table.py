"""Any tool reads the table, and what is not a table is said to be none."""

import subprocess
import sys

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


@pytest.mark.parametrize("seconds", [0, 1, 9, 100_000])
def test_what_was_written_is_read(tmp_path, seconds):
    path = tmp_path / "observations.parquet"
    at_unix_s = np.arange(seconds, dtype=float)
    columns = {
        "host.whole": at_unix_s / 3,
        "host.some": np.where(at_unix_s % 3 == 0, np.nan, at_unix_s),
        "host.none": np.full(seconds, np.nan),
    }
    write_table(path, Observations(at_unix_s, columns))
    read = read_table(path)
    np.testing.assert_array_equal(read.at_unix_s, at_unix_s)
    assert list(read.columns) == list(columns)
    for name, values in columns.items():
        np.testing.assert_array_equal(read.columns[name], values)


def test_reading_imports_no_data_frames(tmp_path):
    path = tmp_path / "observations.parquet"
    write_table(path, Observations(np.array([1.0]), {"host.a": np.array([2.0])}))
    code = (
        "import sys, pathlib\n"
        "from dbdyno.results.observations_table import read_table\n"
        f"read_table(pathlib.Path({str(path)!r}))\n"
        "print(*{'pandas', 'pyarrow.dataset', 'pyarrow.compute'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (0, "", "")


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


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_a_value_beyond_every_counter_is_refused_by_its_column(tmp_path, value):
    path = tmp_path / "observations.parquet"
    write_table(path, Observations(np.array([1.0, 2.0]), {"host.cpu": np.array([1.0, value])}))
    with pytest.raises(UserError, match=r"host\.cpu has a value that dbdyno never writes"):
        read_table(path)
