"""The documentation lists every column of every table, and no other."""

import re
from pathlib import Path

from dbdyno.tables.catalogue import COLUMNS, TABLES
from dbdyno.tables.trials import IDENTITY

DOCUMENT = Path(__file__).parents[2] / "docs" / "python-api.md"


def rows_of(text):
    return re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", text, re.MULTILINE)


def described(columns):
    return [(column.name, column.kind, column.what) for column in columns]


def test_the_documentation_has_the_columns():
    first, *sections = re.split(r"^### `(\w+)`$", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert rows_of(first) == described(IDENTITY)
    documented = dict(zip(sections[::2], sections[1::2], strict=True))
    assert list(documented) == list(TABLES) == list(COLUMNS)
    for name, text in documented.items():
        assert COLUMNS[name][: len(IDENTITY)] == IDENTITY
        assert rows_of(text) == described(COLUMNS[name][len(IDENTITY) :])
