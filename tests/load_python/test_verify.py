"""The checks after a run."""

import io
import json

from dbdyno.load_python.interval import Totals
from dbdyno.load_python.records import Records
from dbdyno.load_python.verify import sums, verify
from dbdyno.load_python.workloads import make_workload
from fakes.session import FakeSession


def checks(workload, before, totals, **keys):
    made = make_workload(workload, 50, {})
    session, out = FakeSession(made.steps), io.StringIO()
    for key, value in keys.items():
        setattr(session, key, value)
    verify(made, session, before, totals, Records(out))
    return [json.loads(line) for line in out.getvalue().splitlines()]


def totals(added, maybe_added=0):
    return Totals([[0, 0]], added=added, maybe_added=maybe_added)


def test_each_table_is_counted():
    counted = [(check["name"], check["expected"], check["found"], check["ok"]) for check in checks("game", {}, None)]
    assert counted == [("rows of player", 50, 50, True), ("rows of account", 50, 50, True)]
    (unknown,) = checks("point-get", {}, None, count=lambda table, rows: None)
    assert (unknown["ok"], unknown["note"]) == (None, "this store cannot tell")
    assert checks("point-get", {}, None, count=lambda table, rows: 49)[0]["ok"] is False


def test_the_sum_must_have_grown_by_what_was_acknowledged():
    workload = make_workload("point-update", 50, {})
    before = sums(workload, FakeSession(workload.steps))
    assert before == {"bm.k": 100}
    grown = {"added": 7}
    assert checks("point-update", before, totals(7), **grown)[1] == {
        "record": "check",
        "name": "growth of the sum of bm.k",
        "expected": 7,
        "found": 7,
        "ok": True,
        "note": None,
    }
    assert checks("point-update", before, totals(8), **grown)[1]["ok"] is False, "one was lost"
    assert checks("point-update", before, totals(6), **grown)[1]["ok"] is False, "one was doubled"
    doubtful = checks("point-update", before, totals(6, 1), **grown)[1]
    assert doubtful["ok"] is True and doubtful["note"].startswith("1 more had no answer")
    assert checks("point-update", {"bm.k": None}, totals(6), **grown)[1]["ok"] is None
    assert len(checks("point-update", before, None)) == 1, "without a run nothing has grown"
