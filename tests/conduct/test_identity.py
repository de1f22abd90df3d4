"""A copy differs from its original in every way in which rows can differ."""

import pytest

from dbdyno.conduct.identity import MOST, compare_definitions, compare_rows

ROWS = [(b"9", b"nine", None), (b"10", b"ten", b""), (b"11", b"eleven", b"x")]


def test_what_is_the_same_has_no_difference():
    assert compare_rows(iter(ROWS), iter(ROWS)) == (3, [])
    assert compare_rows([], []) == (0, [])


@pytest.mark.parametrize(
    ("copy", "difference"),
    [
        ([ROWS[0], (b"10", b"teN", b""), ROWS[2]], "row 10, column 2: b'teN' instead of b'ten'"),
        ([(b"9", b"nine", b""), *ROWS[1:]], "row 9, column 3: b'' instead of None"),
        ([ROWS[0], (b"10", b"ten", None), ROWS[2]], "row 10, column 3: None instead of b''"),
        ([ROWS[0], ROWS[2]], "row 10 is missing"),
        (ROWS[1:], "row 9 is missing"),
        (ROWS[:2], "row 11 is missing"),
        ([ROWS[0], ROWS[1], ROWS[1], ROWS[2]], "row 10 is in the copy once too often"),
        ([*ROWS, ROWS[2]], "row 11 is in the copy once too often"),
        ([*ROWS, (b"12", b"", b"")], "row 12 is in the copy once too often"),
        ([(b"8", b"", b""), *ROWS], "row 8 is in the copy once too often"),
    ],
)
def test_one_difference_is_found_and_named(copy, difference):
    assert compare_rows(ROWS, copy)[1] == [difference]


def test_the_first_differences_are_told():
    rows, differences = compare_rows([(b"%d" % key, b"a") for key in range(10)], [])
    assert differences == [f"row {key} is missing" for key in range(MOST)]
    assert rows == MOST


def test_a_long_value_is_shown_in_part():
    _, (difference,) = compare_rows([(b"1", b"a" * 200)], [(b"1", b"b")])
    assert difference.endswith("aaa…") and len(difference) < 90


def test_definitions_are_held_against_each_other():
    assert compare_definitions(["id int", "key k"], ["key k", "id int"]) == []
    assert compare_definitions(["id int", "key k"], ["id int"]) == ["'key k' is missing"]
    assert compare_definitions(["id int"], ["id bigint"]) == [
        "'id int' is missing",
        "'id bigint' is not in the original",
    ]
