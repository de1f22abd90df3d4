"""Answers are made alike and compared."""

from datetime import date
from decimal import Decimal

from dbdyno.analytics.answers import difference, plain


def test_values_of_drivers_become_those_of_json():
    assert plain([(Decimal("3"), Decimal("0.5"), date(2007, 1, 2), None, "x")]) == [[3, 0.5, "2007-01-02", None, "x"]]


def test_the_same_answer_has_no_difference():
    assert difference([[1, "a", 0.1]], [[1, "a", 0.1 + 1e-12]]) is None


def test_differences_are_named():
    assert difference([[1]], [[1], [2]]) == "1 rows against 2"
    assert difference([[1, "a"], [2, "b"]], [[1, "a"], [2, "c"]]) == "row 2: [2, 'b'] against [2, 'c']"
    assert difference([[0]], [[None]]) is not None
    assert difference([[1, 2]], [[1]]) is not None
