"""A binary log as the rows it has: what the program prints, and of a real server."""

from pathlib import Path

import pytest

from dbdyno.errors import RunFailed
from dbdyno.systems.mysql.binary_log import BinaryLog, apply, promise_of
from dbdyno.systems.witness import nothing_of

VARIABLES = {"sync_binlog": "1", "innodb_flush_log_at_trx_commit": "1", "binlog_format": "ROW"}
LINES = """\
### INSERT INTO `dbdyno`.`debit`
### SET
###   @1=1
###   @2=0
###   @3='### '
### INSERT INTO `dbdyno`.`debit`
### SET
###   @1=2
###   @2=0
# at 100
COMMIT/*!*/;
### UPDATE `dbdyno`.`debit`
### WHERE
###   @1=2
###   @2=0
### SET
###   @1=2
###   @2=1
COMMIT/*!*/;
### UPDATE `dbdyno`.`other`
### WHERE
###   @1=1
### SET
###   @2=9
### UPDATE `dbdyno`.`debit`
### WHERE
###   @1=1
### SET
###   @2=4
COMMIT/*!*/;
### UPDATE `dbdyno`.`debit`
### SET
###   @1=2
###   @2=7
"""


def test_a_row_has_the_version_of_its_last_committed_change():
    versions = nothing_of({"debit": 3})
    apply(LINES.splitlines(keepends=True), versions)
    # The last change was not committed; the one before has no more than what changed.
    assert versions["debit"].tolist() == [-1, 4, 1, -1]


@pytest.mark.parametrize(("sync", "flush", "holds"), [("1", "1", True), ("0", "1", False), ("1", "2", False)])
def test_agreement_is_promised_where_both_are_flushed(sync, flush, holds):
    settings = {"sync_binlog": sync, "innodb_flush_log_at_trx_commit": flush}
    assert promise_of(settings) == (holds, f"sync_binlog={sync} innodb_flush_log_at_trx_commit={flush}")


def test_a_log_of_statements_is_not_read():
    assert "give binlog_format=ROW" in BinaryLog(VARIABLES | {"binlog_format": "MIXED"}, "dbdyno", list).unable


def test_a_log_that_is_gone_or_no_log_is_said(tmp_path):
    log = BinaryLog(VARIABLES, "dbdyno", lambda: [Path("/nowhere/binlog.000001")])
    if log.unable:
        pytest.skip(log.unable)
    with pytest.raises(RunFailed, match="is not there"):
        log.versions({"debit": 1})
    torn = tmp_path / "binlog.000002"
    torn.write_bytes(b"\xfebin torn")
    versions, odd = BinaryLog(VARIABLES, "dbdyno", lambda: [torn]).versions({"debit": 1})
    assert versions["debit"].tolist() == [-1, -1] and odd.startswith("binlog.000002: ")
