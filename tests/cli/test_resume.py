"""`dbdyno run --resume`: real runs that were killed and interrupted go on, and what it refuses."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.results.read import read_run
from dbdyno.results.write import Lines
from helpers import need, wait_until

SMALL = ["run", "game", "--seconds", "1", "--warmup", "0", "--rows", "10", "--set", "host=false"]
REAL = ["run", "point-update", "--system", "sqlite", "--system", "redis", "--clients", "1,2", "--seconds", "3"]


def states(folder):
    return {trial.name: trial.state for trial in read_run(folder).trials}


def records_of(folder):
    return {path: path.read_bytes() for path in folder.glob("trials/*/records.jsonl")}


@pytest.mark.parametrize(
    ("number", "cut", "status"), [(signal.SIGKILL, "002-sqlite", -9), (signal.SIGINT, "003-redis", 130)], ids=str
)
def test_a_run_that_is_cut_in_the_middle_of_a_trial_ends_with_every_trial(dbdyno, number, cut, status):
    need("redis")
    options = ["--rows", "100", "--warmup", "0", "--set", "host=false"]
    process = subprocess.Popen(
        [sys.executable, "-m", "dbdyno", *REAL, *options, "--quiet"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python")},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        (records,) = wait_until(lambda: list(Path("runs").glob(f"*/trials/{cut}-*/records.jsonl")))
        wait_until(lambda: '"interval"' in records.read_text())
        process.send_signal(number)
        _, said = process.communicate()
    finally:
        process.kill()
        process.wait()
    assert process.returncode == status
    assert (number == signal.SIGKILL) or "dbdyno: go on with: dbdyno run --resume last" in said
    folder = records.parents[2]
    before = states(folder)
    kept = {path: content for path, content in records_of(folder).items() if before[path.parent.name] == "complete"}
    assert list(before.values()).index("interrupted") == int(cut[:3]) - 1 and len(kept) == int(cut[:3]) - 1
    assert "  go on    dbdyno run --resume last\n" in dbdyno("show", "last")[1]
    status, out, err = dbdyno("run", "--resume", "last")
    assert (status, err) == (0, "") and f"resumed: {len(kept)} of 4 trials are complete and kept" in out
    assert "4 trials, " in out and "resumed once" in out and "go on " not in out
    assert states(folder) == dict.fromkeys(before, "complete") and len(before) == 4
    assert kept.items() <= records_of(folder).items()
    assert (folder / "earlier/01/trials" / records.parent.name / "records.jsonl").is_file()
    assert (folder / "report.html").is_file()
    for command in (["show", "last", "--json"], ["explain", "last"], ["report", "last"], ["show", "last", "--details"]):
        assert dbdyno(*command)[0] == 0
    assert dbdyno("run", "--resume", folder.name) == (0, f"{folder}: the run is complete; nothing is left to run\n", "")


def test_a_run_that_a_full_disk_ended_goes_on_when_there_is_room(dbdyno, fake_load, fake_system, monkeypatch):
    append = Lines.append

    def full(self, line):
        if b'"interval"' in line and (list(Path("runs").glob("*/trials/002-*"))):
            raise OSError(errno.ENOSPC, "No space left on device")
        append(self, line)

    with monkeypatch.context() as patch:
        patch.setattr(Lines, "append", full)
        status, _, err = dbdyno(*SMALL, "--system", "fake", "--clients", "1,2", "--quiet")
    assert status == 1 and err.endswith("What was recorded is there. Go on with: dbdyno run --resume last\n")
    assert dbdyno("run", "--resume", "last", "--quiet") == (0, "", "")
    (folder,) = Path("runs").iterdir()
    assert set(states(folder).values()) == {"complete"}


@pytest.fixture
def failed(dbdyno, fake_load, fake_system):
    """Have a run in ./runs whose second trial failed; returns the function that runs commands."""
    fake_load(mismatches=1, only_if='"count": 2')
    assert dbdyno(*SMALL, "--system", "fake", "--clients", "1,2")[0] == 1
    fake_load()
    return dbdyno


def test_a_failed_run_names_the_command_and_goes_on(failed):
    assert "  go on    dbdyno run --resume last\n" in failed("show", "last")[1]
    assert failed("run", "--resume", "last", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    "beside", [("--clients", "1"), ("--seed", "1"), ("--out", "x"), ("--keep",), ("--set", "a=1"), ("--scale", "small")]
)
def test_no_option_may_change_the_experiment(failed, beside):
    status, _, err = failed("run", "--resume", "last", *beside)
    assert status == 2 and err == (
        f"dbdyno: {beside[0]}: a resumed run keeps its experiment and its folder; leave {beside[0]} out\n"
    )


def test_an_experiment_beside_it_or_no_run_is_refused(failed):
    status, _, err = failed("run", "--resume", "last", "game")
    assert status == 2 and "leave 'game' out" in err
    assert failed("run", "--resume", "nowhere")[0] == 2
    status, _, err = failed("run")
    assert status == 2 and "Missing argument 'EXPERIMENT'" in err


def test_a_run_of_another_command_is_refused(failed):
    (run,) = Path("runs").glob("*/run.json")
    run.write_text(json.dumps(json.loads(run.read_text()) | {"command": "dbdyno aa fake run"}))
    status, _, err = failed("run", "--resume", "last")
    assert status == 2 and "only runs of `dbdyno run` can be resumed" in err
    assert "--resume" not in failed("show", "last")[1]
