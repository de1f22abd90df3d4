"""Limits are read as people write them."""

import pytest

from dbdyno.experiment.limit import Limit, parse_limit


@pytest.mark.parametrize(
    ("text", "limit", "written"),
    [
        ("p99 < 10ms", Limit("p99", 10_000, 99), "p99 < 10ms"),
        ("p99.9<1.5s", Limit("p99.9", 1_500_000, 99.9), "p99.9 < 1.5s"),
        ("mean < 500us", Limit("mean", 500), "mean < 500us"),
        (" max < 250 µs ", Limit("max", 250), "max < 250us"),
    ],
)
def test_it_is_read_and_written(text, limit, written):
    assert parse_limit(text) == limit
    assert str(limit) == written and parse_limit(written) == limit


@pytest.mark.parametrize(
    "text", ["", "p99", "p99 < 10", "p99 > 10ms", "p100 < 1ms", "p0 < 1ms", "min < 1ms", "max < 0ms"]
)
def test_what_is_none_is_refused_with_how_one_is_written(text):
    with pytest.raises(ValueError, match="is not a limit; write"):
        parse_limit(text)
