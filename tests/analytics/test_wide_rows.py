"""Tables of few and of many columns: their files, and what is asked of them."""

import pytest

from dbdyno.analytics import wide_rows
from dbdyno.analytics.wide_rows import LAYOUTS, WideRows, write_file


def rows_of(path):
    return [line.split(",")[:-1] for line in path.read_text().splitlines()[1:]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_have_values_that_fit_their_columns(layout, tmp_path):
    columns = LAYOUTS[layout]
    write_file(tmp_path / "a.csv", columns, (1, 0), 50)
    rows = rows_of(tmp_path / "a.csv")
    assert len(rows) == 50 and len({tuple(row) for row in rows}) > 1
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            assert len(value) == column.length if column.is_text else 10 <= int(value) <= 99


def test_the_last_three_hold_as_many_bytes_in_few_columns_and_in_many():
    bytes_of = {name: sum(column.length or 1 for column in columns) for name, columns in LAYOUTS.items()}
    assert bytes_of == {"tinyint": 1, "tinyint-char": 100, "tinyints": 100, "tinyints-varchar": 100}
    assert [len(columns) for columns in LAYOUTS.values()] == [1, 2, 100, 100]


def test_rows_are_a_function_of_the_seed_and_batches_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(wide_rows, "BATCH_ROWS", 40)
    monkeypatch.setattr(wide_rows, "CHUNK_ROWS", 15)

    def made(seed):
        files = [file for batch in WideRows({"layout": "tinyints"}).files(100, seed, tmp_path, print) for file in batch]
        assert [count for _, count in files] == [40, 40, 20]
        return [rows_of(path) for path, _ in files]

    first = made(1)
    assert first == made(1) != made(2)
    assert first[0] != first[1]


def test_every_column_is_read_by_one_query_and_one_by_the_others():
    queries = {query.name: query for query in WideRows({"layout": "tinyints-varchar"}).queries(10)}
    assert {name: query.columns for name, query in queries.items()} == {"first": 1, "last": 1, "all": 100}
    assert queries["last"].sql.endswith("WHERE c100 = '-'")
    assert queries["all"].sql.count("SUM(") == 99 and "MAX(c100)" in queries["all"].sql
