"""`dbdyno history` on a directory of runs."""

import json

from synthetic_run import SYSTEMS, write_run


def test_a_directory_of_runs(dbdyno, tmp_path):
    for number in range(6):
        write_run(tmp_path / f"run-{number}", SYSTEMS[:1], clients=(1,))
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "run.json").write_text('{"format": 0}')
    status, out, err = dbdyno("history", str(tmp_path))
    assert status == 0 and "in the last of 6 runs: no confirmed change" in out
    assert "left out" in err and "format 0" in err
    (series,) = json.loads(dbdyno("history", str(tmp_path), "--json")[1])["series"]
    assert (series["label"], len(series["runs"]), series["changes"]) == ("sqlite", 6, [])


def test_no_run_there(dbdyno, tmp_path):
    status, _, err = dbdyno("history", str(tmp_path))
    assert status == 2 and "holds no run" in err
