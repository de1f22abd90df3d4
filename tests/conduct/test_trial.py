"""A trial's folder says what was run, what was recorded and how it ended."""

import json

import pytest

from dbdyno.conduct.load_client import Summary
from dbdyno.conduct.preparation import describe_system
from dbdyno.conduct.trial import Prepared, given_settings, judge, run_trial, take_library
from dbdyno.experiment.system_spec import parse_system, with_labels
from dbdyno.experiment.trials import Trial, expand
from dbdyno.systems import build
from dbdyno.systems.base import Launch
from helpers import workload

FAKE = {"name": "fake", "version": "1", "effective_settings": {}}


@pytest.fixture
def run(context, fake_load, fake_system, guard, tmp_path):
    """Run the first trial of the small experiment; returns its outcome and folder."""

    def run_first(keys=None, **behaviour):
        fake_load(**behaviour)
        running = context(**(keys or {}))
        trial = expand(running.experiment, running.experiment.system)[0].trials[0]
        logs = running.folder.preparation("01-fake")
        system = build(trial.system)
        system.start(Launch(guard, logs, 1, 1))
        facts = describe_system(system, running.experiment, 0.0)
        outcome = run_trial(running, Prepared(system, "01-fake", logs, facts), trial)
        return outcome, running.folder.path / "trials" / trial.name

    return run_first


def test_a_trial_that_went_well(run):
    outcome, folder = run()
    assert (outcome.state, outcome.right, outcome.transactions) == ("complete", True, 2000)
    document = json.loads((folder / "trial.json").read_text())
    assert document["state"] == "complete" and document["exit_status"] == 0
    assert document["system"] == document["label"] == "fake"
    (server,) = document["servers"]
    assert server == FAKE | {"started_with": None, "build": None, "config": None}
    assert document["server_counters"] == {"fake": {"before": {"asked": 1}, "after": {"asked": 2}}}
    assert document["ended_unix_s"] >= document["started_unix_s"]
    assert document["python_cpu_s"] >= 0 and 0 < document["observer_cpu_s"] < 1
    assert [used["process"] for used in document["usage"]] == ["client"] and document["data_bytes"] is None
    assert {path.name for path in folder.iterdir()} == {
        "summary.npz",
        "trial.json",
        "plan.json",
        "records.jsonl",
        "observations.parquet",
        "load.log",
        "server-fake.log",
        "verdict.json",
    }
    assert (folder / "server-fake.log").read_text() == "asked 1\nasked 2\n"
    assert "hidden" not in (folder / "plan.json").read_text()


def test_what_a_library_said_of_itself_goes_into_the_trial_and_the_settings(tmp_path):
    sqlite = build(parse_system("sqlite"))
    assert take_library(sqlite, Summary(), tmp_path) is None and not list(tmp_path.iterdir())
    library = {"version": "3.1", "settings": {"page": "4", "cache_size_kib": "7"}, "not_readable": []}
    (server,) = take_library(sqlite, Summary(library=library), tmp_path)
    assert (server["version"], server["effective_settings"]["cache_size_kib"]) == ("3.1", "7")
    assert json.loads((tmp_path / "settings.json").read_text())["sqlite"]["page"] == "4"


def test_what_the_data_takes_on_disk_is_kept(run, fake_system, tmp_path, monkeypatch):
    data = tmp_path / "data" / "below"
    data.mkdir(parents=True)
    (data / "table").write_bytes(b"x" * 100_000)
    monkeypatch.setattr(fake_system, "data_directories", lambda _: (data.parent,))
    _, folder = run()
    assert 100_000 <= json.loads((folder / "trial.json").read_text())["data_bytes"] < 200_000


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ({"die": "run"}, "was killed by SIGKILL"),
        ({"mismatches": 1}, "3 rows read were not what was written"),
        ({"wrong_check": True}, "check sum of k: expected 10, found 9"),
        ({"refuse": "run"}, "without dbdyno's marker"),
        ({"contract": 9}, "speaks contract 9"),
    ],
    ids=str,
)
def test_a_trial_that_went_wrong_says_why(run, behaviour, reason):
    outcome, folder = run(**behaviour)
    document = json.loads((folder / "trial.json").read_text())
    assert outcome.state == document["state"] == "failed"
    assert reason in document["reason"]


def test_errors_leave_a_trial_complete_but_not_right(run):
    outcome, _ = run(errors=1)
    assert (outcome.state, outcome.errors, outcome.right) == ("complete", {"server": 3}, False)


def ended(status):
    return Summary(end={"status": status, "reason": None})


@pytest.mark.parametrize(
    ("summary", "death", "interrupted", "state"),
    [
        (ended("complete"), None, False, "complete"),
        (ended("complete"), "fake was killed by SIGKILL", False, "failed"),
        (ended("interrupted"), None, True, "interrupted"),
        (ended("interrupted"), None, False, "failed"),
        (ended("failed"), None, False, "failed"),
        (Summary(), None, True, "interrupted"),
    ],
)
def test_judging(summary, death, interrupted, state, tmp_path):
    (tmp_path / "load.log").touch()
    assert judge(summary, tmp_path, death, interrupted)[0] == state


def test_settings_of_parts_are_told_apart():
    (spec,) = with_labels([parse_system("cache-aside(memcached?memory=9, mariadb?engine=Aria)")])
    trial = Trial("001", spec, workload("game"), 1, 1)
    assert given_settings(trial) == {"memcached.memory": "9", "mariadb.engine": "Aria"}


def test_of_an_automatic_warm_up_the_outcome_is_what_the_records_tell(run):
    outcome, folder = run({"warmup": "auto", "warmup_seconds": 0, "seconds": 120}, second_s=0, slow_seconds=40)
    assert json.loads((folder / "trial.json").read_text())["warmup"] == "auto"
    assert (outcome.state, outcome.seconds, outcome.transactions) == ("complete", 80.0, 80_000)
