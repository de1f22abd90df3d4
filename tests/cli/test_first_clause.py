"""The part of a description that stands on one line."""

import pytest

from dbdyno.cli.first_clause import first_clause


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("SQLite, embedded (journal_mode, synchronous)", "SQLite, embedded"),
        ("any Redis server: redis://host:6379/0", "any Redis server"),
        ("k = k + 1 on one row; the sum is checked", "k = k + 1 on one row"),
        ("mongod?binary=a:b;c", "mongod?binary=a:b;c"),
        ("", ""),
    ],
)
def test_a_clause_ends_at_a_bracket_a_colon_or_a_semicolon(text, clause):
    assert first_clause(text) == clause
