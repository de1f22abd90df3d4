"""Each generator's values and checks; other tests compare them with the native client's through the libraries."""

import pytest

from dbdyno.load_python.choices import GOLDEN, mix
from dbdyno.load_python.column import (
    Counter,
    Email,
    Key,
    Letters,
    Name,
    Number,
    Padded,
    Version,
    VersionedLetters,
    letters,
)

COLUMNS = [
    Key("x"),
    Version("x"),
    Number("x", salt=1, below=1_000_000),
    Padded("x", 20, "y"),
    Email("x", 64),
    Name("x", 64),
    Letters("x", 33, salt=2),
    VersionedLetters("x", 33, salt=3),
]


def test_letters_are_eight_from_each_number_of_the_stream():
    one_by_one, state = b"", 12345
    for _ in range(5):
        state = (state + GOLDEN) & ((1 << 64) - 1)
        one_by_one += ((mix(state) & 0x0F0F0F0F0F0F0F0F) + 0x6161616161616161).to_bytes(8, "little")
    assert letters(12345, 37) == one_by_one[:37].decode()


def test_the_largest_seed_is_no_error():
    assert len(letters((1 << 64) - 1, 800)) == 800


def test_padded_is_the_decimal_key_padded_to_the_width():
    assert Padded("c", 10, "x").value(1234, 0) == "1234xxxxxx"


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_every_column_accepts_its_value_and_nothing_else(column):
    value = column.value(41, 3)
    assert column.accepts(41, 3, value)
    assert not column.accepts(41, 3, column.value(42, 4))
    assert not column.accepts(41, 3, None)
    assert (column.value(41, 4) != value) is column.versioned
    assert isinstance(value, int) is column.is_int
    assert column.is_int or not column.width or len(value) <= column.width


def test_a_counter_may_only_have_grown():
    counter = Counter("k")
    assert [counter.accepts(10, 0, returned) for returned in (9, 10, 11, "10", None)] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_emails_are_unique():
    assert len({Email("e").value(key, 0) for key in range(1, 5001)}) == 5000
