"""The most that an experiment may ask for: what is beyond is a slip of the hand, and is refused when it is read."""

from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import Any

MOST_SECONDS = 7 * 24 * 3600
"""Longest measured time of a trial, and longest warm-up: a week."""
MOST_TIMEOUT_SECONDS = 24 * 3600
MOST_REPEAT = 1000
MOST_CLIENTS_OF_A_TRIAL = 1_000_000
MOST_LOAD_THREADS = 1024
MOST_PER_CONNECTION = 1_000_000_000
MOST_PIPELINE = 1000
"""The load client's own bound (docs/contract.md)."""
MOST_SIZE_BYTES = 1 << 50
MOST_VARIANTS = 1000
"""Most variants of systems by their settings, and of workloads by their options."""
MOST_TRIALS = 10_000
MOST_FILE_BYTES = 1 << 20
MOST_DEPTH = 32
"""Deepest nesting of tables and lists."""
MOST_TEXT = 4096
"""Characters of a system."""
MOST_ARRANGED = 8
"""Deepest nesting of arrangements."""
_BRIEF = 120


def read_bounded(path: Path, most_bytes: int = MOST_FILE_BYTES) -> bytes:
    """Return what is in a file; raises ValueError if it is more than `most_bytes`, OSError if it cannot be read.

    The size is not asked for: a device such as /dev/zero has none, and never ends.
    """
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"it has more than {most_bytes:,} bytes")
    return content


def check_variants(what: str, choices: Iterable[list[Any]]) -> None:
    """Raise ValueError if the combinations of `choices` are too many to be made."""
    if (count := prod(map(len, choices))) > MOST_VARIANTS:
        raise ValueError(f"the lists of {what} make {count:,} combinations; at most {MOST_VARIANTS:,} can be run")


def check_whole(what: str, numbers: Iterable[int], most: int) -> None:
    """Raise ValueError if one of `numbers` is greater than `most`."""
    if (greatest := max(numbers, default=0)) > most:
        raise ValueError(f"{brief(greatest)} {what}: at most {most:,}")


def is_too_deep(value: Any) -> bool:
    """Return whether tables and lists lie more than MOST_DEPTH deep within each other."""
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [inner for entry in level for inner in _inside(entry)]
    return bool(level)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def brief(value: Any) -> str:
    """Return a value for a message: as Python writes it, cut if it is long."""
    try:
        return cut(repr(value))
    except ValueError:
        # Python writes no number of more than 4,300 digits.
        return "a number of thousands of digits"


def cut(text: str) -> str:
    """Return a text for a message, cut if it is long."""
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"
