"""RocksDB's promises, by its log and its flushing."""

import pytest

from dbdyno.errors import UserError
from helpers import system


@pytest.mark.parametrize(
    ("settings", "level"), [("", "D2"), ("?sync=none", "D0"), ("?sync=none&wal=off", "D0"), ("?wal=on", "D2")]
)
def test_durability(settings, level):
    durability = system(f"rocksdb{settings}").durability()
    assert durability.level == level
    assert durability.reason.startswith("sync=") and "wal=" in durability.reason


def test_flushing_a_log_that_is_not_written_is_refused():
    with pytest.raises(UserError, match="give sync=none with it"):
        system("rocksdb?wal=off")
