"""The promise of MySQL's and MariaDB's settings for an acknowledged write."""

import pytest

from dbdyno.systems.mysql.durability import durability_of


@pytest.mark.parametrize(
    ("engine", "variables", "level"),
    [
        ("InnoDB", {"innodb_flush_log_at_trx_commit": "1"}, "D2"),
        ("InnoDB", {"innodb_flush_log_at_trx_commit": "2"}, "D1"),
        ("InnoDB", {"innodb_flush_log_at_trx_commit": "0"}, "D1"),
        ("InnoDB", {"innodb_flush_log_at_trx_commit": "1", "log_bin": "ON", "sync_binlog": "1"}, "D2"),
        # Seen: 8 of 2,180 acknowledged writes rolled back after a power cut.
        ("InnoDB", {"innodb_flush_log_at_trx_commit": "1", "log_bin": "ON", "sync_binlog": "0"}, "D1"),
        ("InnoDB", {"innodb_flush_log_at_trx_commit": "1", "innodb_flush_method": "nosync"}, "D0"),
        ("ROCKSDB", {"rocksdb_flush_log_at_trx_commit": "1"}, "D2"),
        ("RocksDB", {"rocksdb_flush_log_at_trx_commit": "2"}, "D1"),
        ("RocksDB", {"rocksdb_write_disable_wal": "ON"}, "D0"),
        ("Mroonga", {}, "D0"),
        ("Aria", {}, "D1"),
        ("MyISAM", {}, "D0"),
        ("MEMORY", {}, "D0"),
        ("Spider", {}, "unknown"),
    ],
)
def test_durability(engine, variables, level):
    assert durability_of(engine, variables).level == level


def test_of_settings_that_are_not_shown_or_do_nothing_nothing_is_promised():
    tidb = {"version": "8.0.11-TiDB-v8.4.0", "innodb_flush_log_at_trx_commit": "1"}
    durability = durability_of("InnoDB", tidb)
    assert (durability.level, "TiDB" in durability.reason) == ("unknown", True)
    assert durability_of("InnoDB", {}).level == "unknown"


def test_a_doubt_about_torn_pages_is_said():
    variables = {"innodb_flush_log_at_trx_commit": "1", "innodb_doublewrite": "OFF"}
    assert "doublewrite" in durability_of("InnoDB", variables).reason
