"""`dbdyno history` on a directory of runs."""

import json

from dbdyno.results.noise import NoiseFloor, keep_noise
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


def test_the_noise_that_is_kept_counts_unless_another_is_given(dbdyno, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    kept = NoiseFloor("bench-1", "sqlite", "game", 20_000, 1, 1, 2, 10, 0.99, 1.07, 0.07, "the-aa-run", 1.0)
    keep_noise([kept])
    for number in range(6):
        write_run(tmp_path / "runs" / f"run-{number}", SYSTEMS[:1], clients=(1,))
    runs = str(tmp_path / "runs")
    (series,) = json.loads(dbdyno("history", runs, "--json")[1])["series"]
    assert (series["noise"], series["noise_from"], series["least_change"]) == (0.07, "the-aa-run", 0.14)
    (series,) = json.loads(dbdyno("history", runs, "--noise", "2%", "--json")[1])["series"]
    assert (series["noise"], series["noise_from"], series["least_change"]) == (0.02, None, 0.04)


def test_no_run_there(dbdyno, tmp_path):
    status, _, err = dbdyno("history", str(tmp_path))
    assert status == 2 and "holds no run" in err
