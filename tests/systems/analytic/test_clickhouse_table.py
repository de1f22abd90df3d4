"""SQL and answers that the forms of ClickHouse have in common."""

from datetime import date

from dbdyno.analytics.table import Column, Table
from dbdyno.systems.analytic.clickhouse_table import converted, create, lines, rows

TABLE = Table("t", (Column("a", "integer"), Column("b", "tiny"), Column("c", "date"), Column("d", "char", 9)))


def test_every_column_may_be_null_and_has_the_size_asked_for():
    assert create(TABLE) == (
        "CREATE TABLE t (`a` Nullable(Int32), `b` Nullable(Int8), `c` Nullable(Date), `d` Nullable(String)) "
        "ENGINE = MergeTree ORDER BY tuple()"
    )


def test_a_line_is_text_and_is_converted():
    assert lines(TABLE) == "s0 String, s1 String, s2 String, s3 String, s4 String"
    assert converted(TABLE) == (
        "toInt32(toFloat64OrNull(s0)) AS `a`, toInt8(toFloat64OrNull(s1)) AS `b`, toDateOrNull(s2) AS `c`, "
        "nullIf(s3, '') AS `d`"
    )


def test_answers_are_rows_with_dates():
    answer = '{"meta": [{"name": "a", "type": "Nullable(Date)"}, {"name": "b", "type": "Int8"}], "data": %s}'
    assert rows(answer % '[["2009-07-31", 1], [null, 2]]') == [(date(2009, 7, 31), 1), (None, 2)]
    assert rows("") == ()
