"""SQLite's own ways of loading and asking; the rest is in test_analyst.py."""

from contextlib import closing

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.embedded.sqlite_analyst import SQLiteAnalyst

SETTINGS = {"journal_mode": "delete", "synchronous": "normal", "cache_size_kib": 4096, "mmap_size_bytes": 1 << 20}


def test_settings_are_those_of_the_system(tmp_path):
    with closing(SQLiteAnalyst(tmp_path / "a.sqlite", SETTINGS)) as analyst:
        there = {name: analyst.ask(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "cache_size")}
        assert there == {"journal_mode": "delete", "synchronous": 1, "cache_size": -4096}
        assert analyst.ask("PRAGMA mmap_size") == [(1 << 20,)]


def test_a_pragma_it_does_not_take_is_an_error_with_both_values(tmp_path):
    too_large = SETTINGS | {"cache_size_kib": 3_000_000_000}
    with pytest.raises(UserError, match="cache_size = -3000000000 was given, and SQLite has 0"):
        SQLiteAnalyst(tmp_path / "a.sqlite", too_large)


def test_a_file_that_is_no_database_fails_the_run(tmp_path):
    path = tmp_path / "a.sqlite"
    path.write_text("no database, and longer than the header of one\n" * 100)
    with pytest.raises(RunFailed, match=r"sqlite: .*a\.sqlite: file is not a database"):
        SQLiteAnalyst(path, SETTINGS)
