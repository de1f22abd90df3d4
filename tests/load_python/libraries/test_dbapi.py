"""Statements, and what an error of the MySQL protocol means, whichever library raised it."""

import pymysql
import pytest

from dbdyno.load_python.libraries.dbapi import failure_of, statement
from dbdyno.load_python.workloads import BM, PLAYER, Step


def test_golden_statements():
    columns = "id, k, c, pad FROM dbdyno_bm"
    assert statement(Step("s", "get", BM)) == f"SELECT {columns} WHERE id = %s"
    assert statement(Step("s", "find", BM, 1)) == f"SELECT {columns} WHERE k = %s"
    assert statement(Step("s", "add", BM, 1)) == "UPDATE dbdyno_bm SET k = k + %s WHERE id = %s"
    changed = ("version", "level", "experience", "gold", "health", "strength", "position_x", "position_y", "inventory")
    changes = ", ".join(f"{name} = %s" for name in changed)
    assert statement(Step("s", "update", PLAYER)) == f"UPDATE dbdyno_player SET {changes} WHERE id = %s"


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ((2013, "Lost connection"), "connection"),
        ((2006, "gone away"), "connection"),
        ((1213, "Deadlock found"), "server"),
        ((4031, "disconnected by the server"), "server"),
        ((1114, "The table is full"), "full"),
        ((1030, 'Got error 28 "No space left on device"'), "full"),
        ((1030, "Got error 127"), "server"),
        ((2027, "Malformed packet"), "protocol"),
        (("Packet sequence number wrong",), "protocol"),
        ((), "protocol"),
    ],
)
def test_errors_by_their_number(arguments, kind):
    failure = failure_of(pymysql.err.OperationalError(*arguments))
    assert failure.kind == kind and failure.message


def test_a_time_out_is_told_from_other_losses():
    error = pymysql.err.OperationalError(2013, "Lost connection")
    error.__cause__ = TimeoutError("timed out")
    assert failure_of(error).kind == "timeout"
