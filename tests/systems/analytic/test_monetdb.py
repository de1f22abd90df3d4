"""monetdb as a separate system; the rest is in test_library.py."""

from helpers import system


def test_its_durability_is_said_with_its_reason():
    durability = system("monetdb").durability()
    assert durability.level == "D2" and durability.reason
