"""CSV that the standard library and pandas read back with the same values."""

import csv
import io

import pandas

from dbdyno.export.csv import to_csv
from dbdyno.tables.seconds import seconds_of
from dbdyno.tables.table import Column, Table


def test_awkward_texts_are_read_back():
    texts = ['say "no", please', "two\nlines", "µ ≥", " "]
    table = Table("things", (Column("text", "text", ""), Column("flag", "flag", "")), [(text, True) for text in texts])
    header, *rows = csv.reader(io.StringIO(to_csv(table), newline=""))
    assert header == ["text", "flag"] and rows == [[text, "true"] for text in texts]


def test_pandas_reads_the_same_values(run):
    table = seconds_of([run])
    read = pandas.read_csv(io.StringIO(to_csv(table)))
    was = table.to_pandas()
    assert list(read.columns) == list(was.columns)
    for name in ("transactions", "at_unix_s", "p99_us", "warmup", "scheduled"):
        assert read[name].equals(was[name].astype(read[name].dtype))
