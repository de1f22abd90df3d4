"""Just enough of Rust's layout to find functions and tests.

It relies on rustfmt's indentation, which `make test` checks first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidy_rules.house import House

FUNCTION = re.compile(r'^( *)(?:pub(?:\([^)]*\))? )?(?:default |const |async |unsafe |extern "[^"]*" )*fn (\w+)')
# A comment, a raw string, a string and a character are passed over; what is left is words.
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bb?r(?P<marks>#*)".*?"(?P=marks)|"(?:\\.|[^"\\])*"'
    r"|'(?:\\.|[^'\\])'|(?P<word>\b[A-Za-z_]\w*)",
    re.DOTALL,
)
TESTS_BEGIN = re.compile(r"^( *)#\[cfg\(test\)\]")


def functions(house: House, path: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and length in lines of every function with a body."""
    lines = house.text(path).split("\n")
    for index, line in enumerate(lines):
        matched = FUNCTION.match(line)
        if matched:
            length = _length(lines[index:], matched.group(1))
            if length:
                yield matched.group(2), index + 1, length


def _length(lines: list[str], indent: str) -> int:
    """Lines up to the one that closes, at the same indentation, what the first begins; 0 if it has no body."""
    for count, line in enumerate(lines, start=1):
        if not line.startswith(indent) or line[len(indent) :].startswith(" "):
            continue
        if line.endswith(";") and "{" not in line:
            return 0
        if line.endswith("}") or line[len(indent) :].startswith("}"):
            return count
    return len(lines)


def words(text: str) -> Iterator[tuple[int, str]]:
    """Yield every word of the code with its line: names and keywords, not those of comments and strings."""
    for token in TOKEN.finditer(text):
        if token["word"]:
            yield text.count("\n", 0, token.start()) + 1, token["word"]


def lines_outside_tests(house: House, path: str) -> list[tuple[int, str]]:
    """The numbered lines of a file that are compiled into the product: neither tests nor benches."""
    if {"tests", "benches", "fuzz"}.intersection(path.split("/")) or path.endswith("/tests.rs"):
        return []
    kept: list[tuple[int, str]] = []
    until: str | None = None
    for number, line in house.lines(path):
        begins = TESTS_BEGIN.match(line)
        if until is None and begins:
            until = begins.group(1)
        elif until is None:
            kept.append((number, line))
        elif line.startswith((until + "}", until + "mod ", until + "use ")) and line.endswith(("}", ";")):
            until = None
    return kept
