"""A table is the same in plain values, Arrow, pandas and Polars, types included."""

import sys

import pytest

from dbdyno.errors import UserError
from dbdyno.tables.table import Column, Table

COLUMNS = (
    Column("name", "text", "a text"),
    Column("count", "whole", "a count"),
    Column("time_us", "number", "a time"),
    Column("warmup", "flag", "a flag"),
)
ROWS = [("a", 1 << 60, 0.5, True), (None, None, None, None), ("b", 3, 2.0, False)]


@pytest.fixture
def table():
    return Table("things", COLUMNS, ROWS)


def test_it_has_its_rows(table):
    assert len(table) == 3 and list(table.rows()) == ROWS
    assert repr(table) == "<Table things: 3 rows, 4 columns>"


def test_arrow_has_its_types(table):
    arrow = table.to_arrow()
    assert [str(field.type) for field in arrow.schema] == ["string", "int64", "double", "bool"]
    assert [tuple(row.values()) for row in arrow.to_pylist()] == ROWS


def test_polars_has_its_values(table):
    frame = table.to_polars()
    assert frame.columns == [column.name for column in COLUMNS] and frame.rows() == ROWS


def test_pandas_has_its_values(table):
    frame = table.to_pandas()
    assert list(frame.columns) == [column.name for column in COLUMNS]
    assert frame["time_us"].sum() == 2.5 and frame["name"].isna().sum() == 1


def test_without_rows_it_has_its_types_all_the_same():
    nothing = Table("things", COLUMNS, [])
    assert len(nothing) == 0 and nothing.to_arrow().num_rows == 0
    assert list(nothing.to_pandas().columns) == nothing.to_polars().columns == [column.name for column in COLUMNS]


def test_texts_have_no_passwords():
    table = Table("things", COLUMNS[:1], [("mysql://me:hidden@db.example/test",)])
    assert list(table.rows()) == [("mysql://me:***@db.example/test",)]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_named(table, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UserError, match=rf"pip install 'dbdyno\[{library}\]'"):
        getattr(table, f"to_{library}")()
