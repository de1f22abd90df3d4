"""Statements are executed in their own process, when its input ends."""

import pickle
import subprocess
import sys

from dbdyno.systems.errand import statement_errand


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


def test_what_it_reads_is_not_shown():
    errand = statement_errand(Says(), ("json",))
    assert "stdin" not in repr(errand) and errand.waits
    assert pickle.loads(errand.stdin)[0] == ("json",)
