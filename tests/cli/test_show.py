"""A run's summary, its details and its one JSON document."""

import json
import re
from pathlib import Path

import pytest


def test_the_summary_and_the_details(finished):
    status, out, err = finished("show", "last")
    assert (status, err) == (0, "")
    assert "fake" in out and "1,000" in out and "  details  dbdyno show last --details\n" in out
    status, out, err = finished("show", "last", "--details")
    assert (status, err) == (0, "")
    assert "1,000" in out and "\nFairness\n" in out and "  dbdyno run game --system fake --clients 1" in out


def test_the_document_has_the_keys_it_promises(finished):
    status, out, _ = finished("show", "last", "--json")
    document = json.loads(out)
    assert status == 0
    assert {"run", "experiment", "trials"} <= document.keys()
    (trial,) = document["trials"]
    assert (trial["system"], trial["workload"], trial["clients"], trial["throughput_per_s"]) == (
        "fake",
        "game",
        1,
        1000,
    )
    assert (trial["errors"], trial["mismatches"], trial["durability"]) == (0, 0, "D0")


@pytest.mark.parametrize("state", ["failed", "interrupted", "running"])
def test_a_run_that_is_not_complete_is_told_by_the_status(finished, state):
    (file,) = Path("runs").glob("*/run.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"state": state}))
    assert finished("show", "last")[0] == finished("show", "last", "--json")[0] == 1


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 23, '"text"', "[[]]", "null"])
@pytest.mark.parametrize(
    ("file", "key"), [("run.json", "started_unix_s"), ("trial.json", "clients"), ("records.jsonl", "completed")]
)
def test_a_figure_that_dbdyno_never_writes_is_told_in_a_line(finished, file, key, number):
    (path,) = Path("runs").glob(f"*/**/{file}" if file != "records.jsonl" else "*/trials/*/records.jsonl")
    text, changed = re.subn(rf'"{key}": [-0-9.e]+', f'"{key}": {number}', path.read_text())
    assert changed
    path.write_text(text)
    for command in (["show"], ["show", "--json"], ["compare"], ["report"]):
        status, _, err = finished(command[0], "last", *command[1:])
        assert status in (0, 1, 2) and err.count("\n") <= 1 and "Traceback" not in err


def test_a_directory_that_is_no_run_is_refused(dbdyno, tmp_path):
    status, _, err = dbdyno("show", str(tmp_path))
    assert status == 2 and "is not a run" in err
