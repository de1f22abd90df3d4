"""Answers of stores to the same query: made alike, and compared."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from math import isclose
from typing import Any

Value = int | float | str | None
Answer = list[list[Value]]

RELATIVE_TOLERANCE = 1e-9
"""Tolerance for numbers with a fraction: stores may round in another order, but differ no further."""


def plain(rows: Iterable[Sequence[Any]]) -> Answer:
    """Return rows as a driver gives them in values that JSON has."""
    return [[_plain(value) for value in row] for row in rows]


def _plain(value: Any) -> Value:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value.isoformat() if isinstance(value, date) else value


def difference(answer: Answer, other: Answer) -> str | None:
    """Return where two answers differ first, in words; None if they are the same."""
    if len(answer) != len(other):
        return f"{len(answer)} rows against {len(other)}"
    for number, (left, right) in enumerate(zip(answer, other, strict=True), 1):
        if len(left) != len(right) or not all(map(_same, left, right)):
            return f"row {number}: {left} against {right}"
    return None


def _same(left: Value, right: Value) -> bool:
    if isinstance(left, int | float) and isinstance(right, int | float):
        return isclose(left, right, rel_tol=RELATIVE_TOLERANCE)
    return left == right
