"""A run's table and its one JSON document."""

import json
from pathlib import Path

import pytest


def test_the_table(finished):
    status, out, err = finished("show", "last")
    assert (status, err) == (0, "")
    assert "fake" in out and "1,000" in out


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


def test_a_directory_that_is_no_run_is_refused(dbdyno, tmp_path):
    status, _, err = dbdyno("show", str(tmp_path))
    assert status == 2 and "is not a run" in err
