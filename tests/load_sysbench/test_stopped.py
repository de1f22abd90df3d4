"""Runs of sysbench stopped or killed in the middle of a trial: nothing of them is left, and what was recorded stays."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from dbdyno.leftovers.processes import start_time
from helpers import need, need_program, wait_until

SOURCES = Path(__file__).parents[2] / "python"
COMMAND = (
    "run sysbench --system mariadb --rows 100 --clients 2 --seconds 600 --warmup 0 "
    "--set workload=sysbench --set host=false --quiet"
)
START_S = 120.0
"""A MariaDB is initialised and started, and sysbench fills its tables, on a busy host."""


@pytest.fixture
def folder():
    """Make a folder that the server's user may enter: those of pytest are closed to others."""
    with TemporaryDirectory(prefix="dbdyno-stopped-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def run(folder):
    """Start a run whose files are all in `folder`, in which sysbench measures; kill what is left of it at the end."""
    need("mariadb")
    need_program("sysbench", "sysbench")
    (folder / "tmp").mkdir(mode=0o777)
    own = {"PYTHONPATH": SOURCES, "TMPDIR": folder / "tmp", "DBDYNO_STATE_DIR": folder / "state"}
    environment = os.environ | {name: str(value) for name, value in own.items()}
    command = [sys.executable, "-m", "dbdyno", *COMMAND.split(), "--out", str(folder / "runs")]
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        wait_until(lambda: recorded_seconds(folder) > 1 or process.poll() is not None, START_S)
        yield process
    finally:
        process.kill()
        process.wait()


def recorded_seconds(folder):
    """Return how many intervals are recorded."""
    return sum(path.read_text().count('"record":"interval"') for path in folder.glob("runs/*/trials/*/records.jsonl"))


def tree_of(process):
    """Return the name of each process of a run, by its number and the time at which it began."""
    members, tree = psutil.Process(process.pid).children(recursive=True), {}
    for member in (psutil.Process(process.pid), *members):
        # Those of the observation come and go.
        with suppress(psutil.Error):
            tree[member.pid, start_time(member.pid)] = member.name()
    return tree


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)], ids=str
)
def test_of_a_run_that_is_stopped_in_a_trial_of_sysbench_nothing_is_left(number, status, run, folder):
    tree = tree_of(run)
    assert {"sysbench", "mariadbd"} <= set(tree.values()), tree
    run.send_signal(number)
    assert run.wait(60) == status
    wait_until(lambda: not [pid for pid, began in tree if began and start_time(pid) == began], START_S)
    wait_until(lambda: not list((folder / "tmp").iterdir()) and not list((folder / "state").glob("*.journal")))
    if number != signal.SIGKILL:
        (recorded,) = (folder / "runs").glob("2*")
        assert json.loads((recorded / "run.json").read_text())["state"] == "interrupted"
    assert recorded_seconds(folder) > 1
