"""A folder of runs over time: series of one cell each, and the run from which on it was slower."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from dbdyno.report.history import history, history_document, print_history
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

MARIADB = SYSTEMS[2]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Ten runs in the order of time; from the sixth on everything takes a fifth longer."""
    parent = tmp_path_factory.mktemp("runs")
    slower = replace(MARIADB, base_us=MARIADB.base_us * 1.2, peak_per_s=MARIADB.peak_per_s / 1.2)
    found = []
    for number in range(10):
        systems = (slower if number >= 5 else MARIADB,)
        run = read_run(write_run(parent / f"run-{number}", systems, clients=(1,), seconds=2, repeats=1 + number % 3))
        found.append(replace(run, about={**run.about, "started_unix_s": 1000.0 * number}))
    return found


def printed(found):
    console = Console(file=io.StringIO(), width=120, color_system=None)
    print_history(found, console)
    return console.file.getvalue()


def test_the_run_that_became_slower_is_named(runs):
    (one,) = history(runs[::-1])
    assert one.runs == tuple(f"run-{number}" for number in range(10))
    (change,) = one.changes
    assert change.index == 5 and change.change == pytest.approx(1 / 1.2 - 1, abs=0.04)
    document = history_document([one])["series"][0]
    assert document["changes"][0]["run"] == "run-5" and len(document["runs"]) == 10
    assert set(document["runs"][0]["stability"]) >= {"floor", "longest_without_completion_s"}
    assert "% from run-5 on" in printed([one])
    assert "(longest stall 0 s) in the last of 10 runs" in printed([one])


def test_too_few_runs_tell_nothing(runs):
    (one,) = history(runs[3:8])
    assert one.changes is None and "too few to tell a change, 6 are needed" in printed([one])


def test_no_change_is_said_as_no_change(runs):
    found = history([*runs[:5], runs[0]])
    assert found[0].changes == () and "no confirmed change" in printed(found)


def test_another_size_or_durability_is_another_series(runs):
    trials = tuple(replace(trial, about={**trial.about, "rows": 5}) for trial in runs[1].trials)
    assert len(history([runs[0], replace(runs[1], trials=trials)])) == 2


def test_what_is_not_the_stores_throughput_is_left_out(runs):
    def changed(run, **keys):
        return replace(run, trials=tuple(replace(trial, **keys) for trial in run.trials))

    assert history([changed(runs[0], state="failed"), changed(runs[1], client_limited="busy")]) == []
