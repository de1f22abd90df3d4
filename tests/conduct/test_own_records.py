"""The records of what dbdyno does itself are those of the contract, and add up."""

import json

from dbdyno.conduct.own_records import conclusion, hello
from dbdyno.results.records import read_records


def recorded(tmp_path, *arguments, **more):
    records = [hello("copy", [("dump", "copy", None), ("restore", "copy", None)]), *conclusion(*arguments, **more)]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return read_records(path)


def test_a_pass_is_a_transaction_of_its_operations(tmp_path):
    recording = recorded(tmp_path, [{"dump": 0.5, "restore": 1.5}], True, {"same": None}, None)
    assert recording.completed == 1 and recording.seconds == 2.0
    times = {operation.name: operation.service_time.sum_ns for operation in recording.operations}
    assert times == {"dump": 500_000_000, "restore": 1_500_000_000}
    assert recording.end["status"] == "complete" and recording.checks[0]["ok"]


def test_passes_before_the_figures_are_marked(tmp_path):
    recording = recorded(tmp_path, [{"dump": 9.0}, {"dump": 1.0}], True, {}, None, warmup_passes=1)
    assert [interval.warmup for interval in recording.intervals] == [True, False]
    assert recording.seconds == 1.0
    assert recording.total["operations"] == {"dump": {"completed": 2, "failed": 0}}


def test_a_pass_that_was_cut_is_no_transaction(tmp_path):
    recording = recorded(tmp_path, [{"dump": 1.0}], False, {"same": "row 1 is missing"}, "mariadb died")
    assert recording.completed == 0
    assert recording.end == {"record": "end", "status": "failed", "reason": "mariadb died"}
    assert recording.checks[0]["ok"] is False and recording.checks[0]["found"] == "row 1 is missing"
