"""Statements are executed in their own process, when its input ends."""

import pickle
import subprocess
import sys

from bounded import run_bounded
from dbdyno.systems.errand import MEMORY_BYTES, statement_errand
from dbdyno.systems.mysql.errands import MySQLStatement
from dbdyno.systems.running.endpoint import Endpoint
from fakes import hostile


class Says:
    def __call__(self):
        return ["one row", "another"]


class Fails:
    def __call__(self):
        raise ValueError("no\nsuch table")


def carry_out(statement, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    errand = statement_errand(statement, ())
    with subprocess.Popen(
        errand.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=False
    ) as process:
        process.stdin.write(errand.stdin)
        process.stdin.flush()
        return process.communicate(timeout=60), process.returncode


def test_rows_are_printed(monkeypatch):
    (out, err), status = carry_out(Says(), monkeypatch)
    assert (out, err, status) == (b"one row\nanother\n", b"", 0)


def test_an_error_is_one_line_and_status_1(monkeypatch):
    (out, err), status = carry_out(Fails(), monkeypatch)
    assert (out, err, status) == (b"", b"no such table\n", 1)


def test_an_answer_without_an_end_ends_it():
    with hostile.server(hostile.mysql_rows_without_end) as port:
        errand = statement_errand(MySQLStatement(Endpoint("127.0.0.1", port, user="u"), "SELECT 1"), ("pymysql",))
        ended = run_bounded([*errand.argv], errand.stdin, kill_after_s=300)
    assert ended.status == 1 and f"the answer takes more than {MEMORY_BYTES >> 20} MiB" in ended.said
    assert ended.peak_bytes < 2 * MEMORY_BYTES


def test_what_it_reads_is_not_shown():
    errand = statement_errand(Says(), ("json",))
    assert "stdin" not in repr(errand) and errand.waits
    assert pickle.loads(errand.stdin)[0] == ("json",)
