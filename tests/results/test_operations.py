"""Operations are reads, writes or neither, and commits that wrote are counted only if they are known."""

import pytest

from dbdyno.results.model import Operation
from dbdyno.results.operations import NEITHER, READS, WRITES, group_of, write_commits
from dbdyno.stats.histogram import Histogram


def operations(**counts):
    return [
        Operation(name, name.replace("_", "-").rstrip("0"), None, Histogram.merged([_of(count)]), 0)
        for name, count in counts.items()
    ]


def _of(count):
    return Histogram.from_record(
        {"count": count, "sum_ns": count, "min_ns": 1, "max_ns": 1, "buckets": [1, count] if count else []}
    )


def test_operations_read_write_or_may_do_either():
    assert {group_of(name) for name in ("get", "get-elsewhere", "get-many", "find", "sum-range")} == {READS}
    assert {group_of(name) for name in ("update", "insert", "add")} == {WRITES}
    assert {group_of(name) for name in ("sql", "begin", "commit", "rollback", "transaction", None)} == {NEITHER}


@pytest.mark.parametrize(
    ("counts", "commits"),
    [
        ({"get_many": 500}, 0),
        ({"get": 500, "begin": 500, "commit": 500}, 0),
        ({"get": 500, "update": 300, "insert": 20}, 320),
        ({"begin": 100, "update": 200, "commit": 100}, 100),
        ({"begin": 100, "get": 300, "update": 20, "commit": 100}, 20),
        ({"begin": 100, "sql": 1400, "commit": 100}, None),
        ({"begin": 100, "sql": 1400, "commit": 100, "transaction": 100}, None),
        ({"begin": 100, "update": 1400, "commit": 100, "transaction": 110}, None),
        ({"update": 90, "get": 10, "transaction": 100}, 90),
        ({"sql": 10, "add": 90}, 90),
        ({"dump": 1, "restore": 1}, None),
        ({}, None),
    ],
    ids=str,
)
def test_the_fewest_commits_that_wrote(counts, commits):
    assert write_commits(operations(**counts)) == commits
