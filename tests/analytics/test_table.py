"""Columns in words that every store can translate."""

import pytest

from dbdyno.analytics.table import Column


@pytest.mark.parametrize(
    ("kind", "is_text"), [("integer", False), ("tiny", False), ("date", False), ("text", True), ("char", True)]
)
def test_texts_are_told_from_the_rest(kind, is_text):
    assert Column("c", kind).is_text is is_text
