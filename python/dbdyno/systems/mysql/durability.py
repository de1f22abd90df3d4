"""The durability class of servers of the MySQL protocol, by their effective settings."""

from dbdyno.systems.base import Durability
from dbdyno.systems.mysql.tidb_settings import is_tidb

_LEVELS = {"1": "D2", "0": "D1", "2": "D1", "3": "D1"}
"""Meanings of the values of `…_flush_log_at_trx_commit`."""


def durability_of(engine: str, variables: dict[str, str]) -> Durability:
    """Return what the settings in force promise of an acknowledged write to a table of that engine."""
    if is_tidb(variables.get("version", "")):
        return Durability("unknown", "TiDB's storage decides that, and TiDB does not show it")
    match engine.lower():
        case "innodb":
            return _durability_of_innodb(variables)
        case "rocksdb":
            flush = variables.get("rocksdb_flush_log_at_trx_commit", "1")
            without = variables.get("rocksdb_write_disable_wal", "OFF").upper() in ("ON", "1")
            reason = "rocksdb_write_disable_wal=on" if without else f"rocksdb_flush_log_at_trx_commit={flush}"
            return Durability("D0" if without else _LEVELS.get(flush, "unknown"), reason)
        case "aria":
            return Durability("D1", "Aria flushes its log at checkpoints, not at each statement")
        case "myisam" | "memory" | "mroonga":
            return Durability("D0", f"engine={engine} has no log")
    return Durability("unknown", f"dbdyno does not know what engine={engine} flushes")


def _durability_of_innodb(variables: dict[str, str]) -> Durability:
    if variables.get("innodb_flush_method", "").lower() == "nosync":
        return Durability("D0", "innodb_flush_method=nosync")
    flush = variables.get("innodb_flush_log_at_trx_commit")
    if flush not in _LEVELS:
        return Durability("unknown", f"innodb_flush_log_at_trx_commit={flush or 'not shown'}")
    # With a binary log, recovery rolls back what that does not have, whatever InnoDB had flushed of it.
    if _LEVELS[flush] == "D2" and variables.get("log_bin") == "ON" and variables.get("sync_binlog") != "1":
        log = f"log_bin=ON sync_binlog={variables.get('sync_binlog')}"
        return Durability("D1", f"{log}: a crash loses the transactions that the binary log lacks")
    # A torn page makes the table unreadable, not the commit late: the class stays, the doubt is said.
    torn = variables.get("innodb_doublewrite", "ON").upper() in ("OFF", "0")
    doubt = ", but innodb_doublewrite=off: a power cut can tear pages" if torn else ""
    return Durability(_LEVELS[flush], f"innodb_flush_log_at_trx_commit={flush}{doubt}")
