"""Tkrzw's promises by its synchronisation and how it reaches its file."""

import pytest

from helpers import system


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ("", "D2"),
        ("?type=tree", "D2"),
        ("?file=positional", "D1"),
        ("?sync=none", "D0"),
        ("?sync=none&file=positional", "D0"),
    ],
)
def test_durability(settings, level):
    durability = system(f"tkrzw{settings}").durability()
    assert durability.level == level
    assert durability.reason.startswith("sync=") and "file=" in durability.reason
