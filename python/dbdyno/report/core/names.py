"""Short names of systems, without the parts that all of them share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, islice

ROOM = 240
"""Letters of all names that still fit in two lines of a legend."""
NAMED, NAMED_LETTERS = 6, 160
"""Systems, and letters of their names, that fit in a sentence; the others are only counted."""


def short_names(names: Sequence[str]) -> tuple[list[str], str]:
    """Return the names without the names of settings that all of them have, and the part left out, empty if none.

    `store a=1 b=2` and `store a=1 b=3` are `store 1 · 2` and `store 1 · 3`, and what is left out is `a · b`. Names that
    fit stay as they are, and so do names that would become equal.
    """
    split = [name.split() for name in names]
    keys = [[word.partition("=")[0] for word in words if "=" in word] for words in split]
    common = [key for key in keys[0] if all(key in those for those in keys)] if keys else []
    in_one_order = all([key for key in those if key in common] == common for those in keys)
    if sum(map(len, names)) <= ROOM or not common or not in_one_order:
        return list(names), ""
    short = [_without(words, common) for words in split]
    return (short, " · ".join(common)) if len(set(short)) == len(set(names)) else (list(names), "")


def _without(words: Iterable[str], common: Sequence[str]) -> str:
    short = ""
    was_value = False
    for word in words:
        key, _, value = word.partition("=")
        is_value = "=" in word and key in common
        short += (" · " if is_value and was_value else " ") + (value if is_value else word)
        was_value = is_value
    return short.strip()


def listed(labels: Iterable[str]) -> str:
    """Return the different labels as part of a sentence; of many the first ones, and how many more there are."""
    different = list(dict.fromkeys(labels))
    if (len(different) <= NAMED and sum(map(len, different)) <= NAMED_LETTERS) or len(different) == 1:
        return ", ".join(different)
    letters = accumulate(map(len, different))
    few = max(1, sum(so_far <= NAMED_LETTERS // 2 for so_far in islice(letters, NAMED // 2)))
    return f"{', '.join(different[:few])} and {len(different) - few} more"
