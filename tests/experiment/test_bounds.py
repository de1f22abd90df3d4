"""Too large an experiment is refused before it is made, in a short line."""

from pathlib import Path

import pytest

from dbdyno.experiment.bounds import (
    MOST_DEPTH,
    brief,
    check_variants,
    check_whole,
    cut,
    is_too_deep,
    read_bounded,
)


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def test_combinations_are_counted_and_not_made():
    check_variants("settings", [[1, 2], [3]])
    with pytest.raises(ValueError, match="100,000,000,000,000,000,000 combinations; at most 1,000"):
        check_variants("settings", [list(range(100))] * 10)


def test_the_greatest_number_counts():
    check_whole("clients", [1, 5], 5)
    with pytest.raises(ValueError, match="6 clients: at most 5"):
        check_whole("clients", [1, 6], 5)


def test_depth_is_of_tables_and_lists():
    assert not is_too_deep({"a": nested(MOST_DEPTH - 2)})
    assert is_too_deep({"a": nested(MOST_DEPTH - 1)})
    assert is_too_deep(nested(100_000))


def test_a_message_is_short_whatever_it_is_about():
    assert brief("x") == "'x'" and cut("x") == "x"
    assert len(brief("x" * 10**6)) < 200
    assert brief([1 << 100_000]) == "a number of thousands of digits"


def test_a_file_is_read_whole_up_to_the_limit(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bounded(tmp_path / "file", 5) == b"12345"
    with pytest.raises(ValueError, match="it has more than 4 bytes"):
        read_bounded(tmp_path / "file", 4)


def test_a_device_that_never_ends_is_refused():
    with pytest.raises(ValueError, match="it has more than 1,048,576 bytes"):
        read_bounded(Path("/dev/zero"))
