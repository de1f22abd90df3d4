"""Decide whether a copy is identical: both sides are read by their key, row by row, value by value.

A checksum, of whatever width, is equal for some tables that differ, and takes another formula in each store; reading
both sides misses nothing, and can say which row it is.
"""

from collections.abc import Iterable, Sequence

from dbdyno.systems.copier import Row

MOST = 3
"""The most differences that are reported; the rest of the table is then not read."""


def compare_rows(original: Iterable[Row], copy: Iterable[Row]) -> tuple[int, list[str]]:
    """Return how many rows of the original were read, and how the copy differs from them; both rise by their key."""
    ours, theirs = iter(original), iter(copy)
    row, copied = next(ours, None), next(theirs, None)
    rows = 0
    differences: list[str] = []
    while (row is not None or copied is not None) and len(differences) < MOST:
        if row != copied:
            differences.append(_difference(row, copied))
        is_before = row is not None and (copied is None or _key(row) < _key(copied))
        is_behind = copied is not None and (row is None or _key(copied) < _key(row))
        if not is_behind:
            row, rows = next(ours, None), rows + 1
        if not is_before:
            copied = next(theirs, None)
    return rows, differences


def compare_definitions(original: Sequence[str], copy: Sequence[str]) -> list[str]:
    """Return how the copy's columns, keys and indexes differ."""
    lost = [f"'{words}' is missing" for words in original if words not in copy]
    more = [f"'{words}' is not in the original" for words in copy if words not in original]
    return [*lost, *more][:MOST]


def _key(row: Row) -> int:
    return int(row[0] or 0)


def _difference(row: Row | None, copied: Row | None) -> str:
    if copied is None or (row is not None and _key(row) < _key(copied)):
        return f"row {_key(row or ())} is missing"
    if row is None or _key(copied) < _key(row):
        return f"row {_key(copied)} is in the copy once too often"
    pairs = zip(row, copied, strict=False)
    column, ours, theirs = next(((n, a, b) for n, (a, b) in enumerate(pairs, 1) if a != b), (len(row), None, None))
    return f"row {_key(row)}, column {column}: {_short(theirs)} instead of {_short(ours)}"


def _short(value: bytes | str | None) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
