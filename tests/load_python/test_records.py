"""Records are lines; only the first few errors of a kind are among them."""

import io
import json

import pytest

from dbdyno.load_python.failure import Ended
from dbdyno.load_python.records import Records


def lines(out):
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_phase_is_written_at_both_ends_however_it_ended():
    out = io.StringIO()
    with pytest.raises(Ended), Records(out).phase("run"):
        raise Ended("failed", "why")
    begin, end = lines(out)
    assert (begin["phase"], begin["state"], end["state"]) == ("run", "begin", "end")
    assert end["seconds"] >= 0 and end["at_unix_s"] >= begin["at_unix_s"]


def test_only_the_first_examples_of_each_kind_of_all_processes():
    out = io.StringIO()
    records = Records(out)
    for _ in range(9):
        records.write_example({"record": "error", "kind": "server", "message": "no"})
        records.write_example({"record": "error", "kind": "mismatch", "message": "wrong"})
        records.write_example({"record": "mismatch", "key": 1})
    written = [(line["record"], line.get("kind")) for line in lines(out)]
    assert {kind: written.count(kind) for kind in written} == {
        ("error", "server"): 5,
        ("error", "mismatch"): 5,
        ("mismatch", None): 5,
    }


def test_when_nobody_reads_the_program_ends(monkeypatch, capsys):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError("gone")

    def leave(status):
        raise SystemExit(status)

    monkeypatch.setattr("os._exit", leave)
    with pytest.raises(SystemExit) as ended:
        Records(Closed()).write({"record": "end", "status": "complete", "reason": None})
    assert ended.value.code == 1 and "gone" in capsys.readouterr().err
