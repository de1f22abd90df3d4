"""How work ends is the last record and the exit status, as docs/contract.md has them."""

import io
import json

import pytest

from dbdyno.load_python import signals
from dbdyno.load_python.ending import conclude
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.records import Records


@pytest.mark.parametrize(("status", "exit_status"), [(None, 0), ("interrupted", 1), ("failed", 1), ("refused", 2)])
def test_each_end_has_its_record_and_its_exit_status(status, exit_status):
    def work():
        if status:
            raise Ended(status, "why")

    written = io.StringIO()
    assert conclude(Records(written), work) == exit_status
    record = json.loads(written.getvalue())
    assert (record["record"], record["status"], record["reason"]) == ("end", status or "complete", status and "why")


def test_a_signal_is_an_end_too(monkeypatch):
    monkeypatch.setattr(signals, "stop_requested", lambda: True)
    written = io.StringIO()
    assert conclude(Records(written), lambda: None) == 1
    assert json.loads(written.getvalue())["status"] == "interrupted"
