"""What is SQLite's own of loading and asking; the rest is in test_analyst.py."""

from contextlib import closing

from dbdyno.systems.sqlite_analyst import SQLiteAnalyst

SETTINGS = {"journal_mode": "delete", "synchronous": "normal", "cache_size_kib": 4096, "mmap_size_bytes": 1 << 20}


def test_settings_are_those_of_the_system(tmp_path):
    with closing(SQLiteAnalyst(tmp_path / "a.sqlite", SETTINGS)) as analyst:
        there = {name: analyst.ask(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "cache_size")}
        assert there == {"journal_mode": "delete", "synchronous": 1, "cache_size": -4096}
        assert analyst.ask("PRAGMA mmap_size") == [(1 << 20,)]
