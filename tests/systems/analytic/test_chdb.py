"""chdb as a separate system; the rest is in test_library.py."""

from helpers import system


def test_its_durability_is_said_with_its_reason():
    durability = system("chdb").durability()
    assert durability.level == "D1" and durability.reason
