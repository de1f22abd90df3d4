"""A folder of runs over time: series of one cell each, and the run from which on it was slower."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from dbdyno.report.history import history, history_document, print_history
from dbdyno.results.conclusions import Conclusions, Verdict
from dbdyno.results.noise import NoiseFloor
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

MARIADB, LIMITED = SYSTEMS[2], "client-limited"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Ten runs in the order of time; from the sixth on everything takes a fifth longer."""
    parent = tmp_path_factory.mktemp("runs")
    slower = replace(MARIADB, base_us=MARIADB.base_us * 1.2, peak_per_s=MARIADB.peak_per_s / 1.2)
    history_runs = []
    for number in range(10):
        systems = (slower if number >= 5 else MARIADB,)
        run = read_run(write_run(parent / f"run-{number}", systems, clients=(1,), seconds=2, repeats=1 + number % 3))
        history_runs.append(replace(run, about={**run.about, "started_unix_s": 1000.0 * number}))
    return history_runs


def printed(past):
    console = Console(file=io.StringIO(), width=120, color_system=None)
    print_history(past, console)
    return console.file.getvalue()


def of_trials(run, **keys):
    return replace(run, trials=tuple(replace(trial, about=trial.about | keys) for trial in run.trials))


def test_the_run_that_became_slower_is_named(runs):
    past = history(runs[::-1], 0.0)
    (series,) = past.series
    assert [point.run for point in series.points] == [f"run-{number}" for number in range(10)]
    (change,) = series.changes
    assert change.index == 5 and change.change == pytest.approx(1 / 1.2 - 1, abs=0.04)
    document = history_document(past)["series"][0]
    assert document["changes"][0]["run"] == "run-5" and len(document["runs"]) == 10
    assert document["changes"][0]["low"] < document["changes"][0]["change"] < document["changes"][0]["high"] < 0
    assert set(document["runs"][0]["stability"]) >= {"floor", "longest_without_completion_s"}
    assert re.search(r"-1\d\.\d % \[-\d\d\.\d, -\d\d\.\d\] from run-5 on", printed(past))
    assert "in the last of 10 runs" in printed(past)


def test_too_few_runs_tell_nothing(runs):
    past = history(runs[3:8], 0.0)
    assert past.series[0].changes is None and "too few to tell a change, 6 are needed" in printed(past)


def test_no_change_is_said_as_no_change(runs):
    past = history([*runs[:5], runs[0]], 0.0)
    assert past.series[0].changes == () and "no confirmed change of 2 %" in printed(past)


def test_the_noise_of_the_host_is_what_a_change_must_exceed(runs):
    floor = NoiseFloor("bench-1", "mariadb", "game", 20_000, 1, 1, 2, 10, 0.9, 1.12, 0.12, "the-aa-run", 1.0)
    past = history(runs, [floor])
    assert past.series[0].changes == ()
    assert "no confirmed change of 24 %" in printed(past)
    assert "game on bench-1: a change counts from 2 × 12 % on, the noise of mariadb in the-aa-run" in (printed(past))
    document = history_document(past)["series"][0]
    keys = ("noise", "noise_from", "least_change")
    assert [document[key] for key in keys] == [0.12, "the-aa-run", pytest.approx(0.24)]
    elsewhere = history(runs, [replace(floor, host="bench-2")])
    assert len(elsewhere.series[0].changes) == 1
    assert "game on bench-1: no noise floor is known" in printed(elsewhere)
    assert "a change counts from 2 × 0 % on, as requested" in printed(history(runs, 0.0))


@pytest.mark.parametrize(
    ("other", "apart"),
    [
        ({"rows": 5}, "rows per table"),
        ({"durability": {"class": "D1"}}, "durability class"),
        ({"settings": {"innodb_io_capacity": "2000"}}, "settings"),
        ({"client_cpus": [0, 1]}, "client cpus"),
        ({"seconds": 600}, "seconds"),
    ],
)
def test_what_was_run_otherwise_is_another_history(runs, other, apart):
    past = history([*runs[:5], *(of_trials(run, **other) for run in runs[5:])], 0.0)
    assert [(len(series.points), series.apart) for series in past.series] == [(5, (apart,))] * 2
    assert f"Note: runs that differ in {apart} are separate histories: mariadb on game at 1 client." in printed(past)
    documents = history_document(past)["series"]
    assert [series["differs_in"] for series in documents] == [[apart]] * 2
    assert documents[0]["conditions"][apart] != documents[1]["conditions"][apart]


@pytest.mark.parametrize("key", ["kernel", "cpu_model", "cpus"])
def test_another_kind_of_host_is_another_history(runs, key):
    moved = [replace(run, environment={**run.environment, key: "another"}) for run in runs[5:]]
    past = history([*runs[:5], *moved], 0.0)
    assert [series.changes for series in past.series] == [None, None]
    assert f"with {key.replace('_', ' ')} another" in printed(past)


def test_hosts_of_one_kind_are_one_history_and_counted(runs):
    named = [replace(run, environment={**run.environment, "host": f"job-{i}"}) for i, run in enumerate(runs)]
    past = history(named, 0.0)
    (series,) = past.series
    assert [change.index for change in series.changes] == [5]
    assert "mariadb on game at 1 client is of 10 hosts of one kind" in printed(past)
    assert history_document(past)["series"][0]["hosts"] == [f"job-{i}" for i in range(10)]
    assert "hosts of one kind" not in printed(history(runs, 0.0))


def test_what_is_not_the_stores_throughput_is_left_out_and_named(runs, tmp_path):
    failed = replace(runs[0], trials=tuple(replace(trial, state="failed", reason="gone") for trial in runs[0].trials))
    limited = read_run(write_run(tmp_path / "limited", (MARIADB,), (1, 2), repeats=2, faults={("mariadb", 1): LIMITED}))
    offered = read_run(write_run(tmp_path / "offered", (MARIADB,), (1,), rates=(500,)))
    past = history([failed, limited, offered], 0.0)
    assert [trial.cell.clients for trial in past.series] == [2]
    said = "\n".join(history_document(past)["left_out"])
    assert "run-0: mariadb on game at 1 client: 001-mariadb-game-c1: failed: gone" in said
    assert "limited: mariadb on game at 1 client: mariadb was limited by the client" in said
    assert "offered: mariadb on game at 1 client, 500/s: an open loop" in said
    assert printed(past).count("Left out: ") == 3


def test_a_run_stays_in_a_history_if_the_client_limited_half_of_its_trials(tmp_path):
    run = read_run(write_run(tmp_path / "run", (MARIADB,), (1,), repeats=3))
    about = Conclusions("its load threads were 95% busy")
    for limited, points in ((1, 1), (2, 0)):
        trials = tuple(replace(trial, judged=about) for trial in run.trials[:limited]) + run.trials[limited:]
        past = history([replace(run, trials=trials)], 0.0)
        assert (sum(len(series.points) for series in past.series), len(past.left_out)) == (points, 1 - points)


def test_a_bound_of_the_client_makes_no_change(runs):
    limited = Verdict("client", sentence="", evidence=(), runner_up=None, confidence="high")
    about = Conclusions("its load threads were 95% busy", verdict=limited)
    bounds = [replace(run, trials=tuple(replace(trial, judged=about) for trial in run.trials)) for run in runs[5:]]
    past = history([*runs[:5], *bounds], 0.0)
    assert len(past.series[0].points) == 5 and len(past.left_out) == 5
