"""Rows checked, and read from what a key-value store holds."""

import pytest

from dbdyno.load_python.table import Difference
from dbdyno.load_python.workloads import ACCOUNT, BM, PLAYER


def test_a_generated_row_is_right_in_every_version():
    for version in (0, 1, 77):
        row = PLAYER.generate(5, version)
        assert PLAYER.check(row, 5) is None
        assert PLAYER.version_of(row) == version
    assert BM.version_of(BM.generate(1, 0)) == 0


def test_a_wrong_row_names_the_column_and_both_values():
    row = BM.generate(5, 0)
    assert BM.check(row, 6) == Difference("id", "6", "5")
    assert BM.check((*row[:3], None), 5) == Difference("pad", "5" + "y" * 119, "NULL")
    assert BM.check(row[:3], 5) == Difference("*", "4 columns", "3 columns")


def test_what_was_encoded_is_decoded():
    row = PLAYER.generate(9, 3)
    assert PLAYER.decode(PLAYER.encode(row)) == row


def test_golden_bytes():
    assert BM.encode((3, 4, "ab", "")) == b"\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\2\0ab\0\0"


@pytest.mark.parametrize("width", [65_534, 65_535, 70_000])
def test_a_long_text_is_decoded_as_it_was(width):
    row = (3, 4, "a" * width, "")
    data = BM.encode(row)
    assert BM.decode(data) == row
    assert data[16:22] == (b"\xfe\xffaaaa" if width < 65_535 else b"\xff\xff" + width.to_bytes(4, "little"))
    assert all(BM.decode(data[:end]) is None for end in (17, 18, 20, 22, len(data) - 1))


def test_cut_or_overlong_bytes_are_no_row():
    data = BM.encode(BM.generate(9, 0))
    assert all(BM.decode(data[:end]) is None for end in range(len(data)))
    assert BM.decode(data + b"x") is None


def test_any_bytes_in_a_text_are_a_row_that_is_wrong():
    data = BM.encode(BM.generate(9, 0)).replace(b"y", b"\xff")
    assert BM.check(BM.decode(data), 9).column == "pad"


@pytest.mark.parametrize(("table", "name"), [(PLAYER, "dbdyno:player:7"), (ACCOUNT, "dbdyno:account:player7@mail")])
def test_rows_are_filed_under_the_tables_column(table, name):
    assert table.store_key_of(7).startswith(name)
