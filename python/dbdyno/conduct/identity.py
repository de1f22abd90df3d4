"""Whether a copy is identical: both sides read by their key, row by row, value by value.

A checksum, of whatever width, is equal for some tables that differ, and takes another formula in each store; reading
both sides misses nothing, and can say which row it is.
"""

from collections.abc import Iterable, Sequence

from dbdyno.systems.copier import Row

MOST = 3
"""How many differences are told; the rest of the table is then not read."""


def compare_rows(original: Iterable[Row], copy: Iterable[Row]) -> tuple[int, list[str]]:
    """Return how many rows of the original were read, and how the copy differs from them; both rise by their key."""
    ours, theirs = iter(original), iter(copy)
    one, other = next(ours, None), next(theirs, None)
    rows = 0
    differences: list[str] = []
    while (one is not None or other is not None) and len(differences) < MOST:
        if one != other:
            differences.append(_difference(one, other))
        is_before = one is not None and (other is None or _key(one) < _key(other))
        is_behind = other is not None and (one is None or _key(other) < _key(one))
        if not is_behind:
            one, rows = next(ours, None), rows + 1
        if not is_before:
            other = next(theirs, None)
    return rows, differences


def compare_definitions(original: Sequence[str], copy: Sequence[str]) -> list[str]:
    """Return how the copy's columns, keys and indexes differ."""
    lost = [f"'{words}' is missing" for words in original if words not in copy]
    more = [f"'{words}' is not in the original" for words in copy if words not in original]
    return [*lost, *more][:MOST]


def _key(row: Row) -> int:
    return int(row[0] or 0)


def _difference(one: Row | None, other: Row | None) -> str:
    if other is None or (one is not None and _key(one) < _key(other)):
        return f"row {_key(one or ())} is missing"
    if one is None or _key(other) < _key(one):
        return f"row {_key(other)} is there once too often"
    pairs = zip(one, other, strict=False)
    column, ours, theirs = next(((n, a, b) for n, (a, b) in enumerate(pairs, 1) if a != b), (len(one), None, None))
    return f"row {_key(one)}, column {column}: {_short(theirs)} in the place of {_short(ours)}"


def _short(value: bytes | str | None) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
