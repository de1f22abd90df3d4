"""The live document comes from the folder alone: also if a run was killed, is half written, or not there yet."""

import json
import os

import pytest

from dbdyno.serve import live as module
from dbdyno.serve.live import Live
from dbdyno.serve.runs import Runs
from serve.conftest import change


class Clock:
    """A clock that the test turns on."""

    def __init__(self):
        self.now_s, self.look_s = 0.0, 0.0

    def __call__(self):
        self.now_s += self.look_s
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def live(running, clock):
    return Live(Runs(running.parent), clock)


def test_the_trial_that_runs_is_shown_as_far_as_it_is(live):
    document = live.document()
    assert (document["run"], document["state"], document["trials"], document["begun"]) == ("now", "running", 1, 1)
    trial = document["trial"]
    assert (trial["title"], trial["state"], trial["planned_s"]) == ("mariadb, game, 4 clients", "running", 6)
    assert trial["last"]["second"] == 6 and trial["last"]["p99"].endswith(("ms", "µs"))
    assert trial["figures"].keys() == {"throughput", "latency", "errors", "budget"}
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_it_looks_once_a_second_however_many_ask(live, clock, monkeypatch):
    looked = []
    original = module.FollowedTrial.look
    monkeypatch.setattr(module.FollowedTrial, "look", lambda trial: looked.append(1) or original(trial))
    for clock.now_s in (0.0, 0.5, 0.9):
        live.document()
    assert len(looked) == 1
    clock.now_s = 1.1
    live.document()
    assert len(looked) == 2


def test_looking_that_takes_long_is_done_less_often(live, clock):
    clock.look_s = 0.5
    first = live.document()
    clock.look_s, clock.now_s = 0.0, 0.5 / module.MOST_SHARE - 1
    assert live.document() is first
    clock.now_s += 2
    assert live.document() is not first


def test_a_system_that_is_being_loaded_is_named_with_how_far_it_is(live, running, clock):
    folder = running / "preparations" / "02-redis"
    folder.mkdir()
    os.utime(folder, ns=(2**62, 2**62))
    assert live.document()["preparing"] == {"system": "02-redis", "doing": "starting"}
    progress = {"record": "progress", "phase": "load", "done": 3000, "total": 20_000, "unit": "rows"}
    (folder / "records.jsonl").write_text(json.dumps(progress) + "\n")
    (folder / "preparation.json").write_text('{"label": "redis"}')
    os.utime(folder, ns=(2**62, 2**62))
    clock.now_s = 5
    assert live.document()["preparing"] == {"system": "redis", "doing": "load 3,000 of 20,000 rows"}
    (folder / "preparation.json").write_text('{"label": "redis", "state": "complete"}')
    os.utime(folder, ns=(2**62, 2**62))
    clock.now_s = 10
    assert live.document()["preparing"] is None


def test_a_run_that_cannot_be_read_says_so_and_is_read_again(live, running, clock):
    (trial,) = running.glob("trials/*/trial.json")
    whole = trial.read_text()
    trial.write_text(whole[:40])
    document = live.document()
    assert document["state"] == "unreadable" and "trial.json: is not JSON" in document["reason"]
    trial.write_text(whole)
    clock.now_s = 5
    assert live.document()["trial"]["last"]["second"] == 6


def test_a_run_without_a_trial_yet(live, running):
    change(running / "run.json", trials=["001-x", "002-x"])
    for file in running.glob("trials/*/*"):
        file.unlink()
    document = live.document()
    assert (document["trial"], document["trials"], document["begun"]) == (None, 2, 0)


def test_no_run_yet(tmp_path):
    assert Live(Runs(tmp_path / "runs")).document() == {"state": "none"}


def test_no_password_leaves(live, running):
    (trial,) = running.glob("trials/*/trial.json")
    change(trial, label="mysql://user:geheim@host/db")
    assert "geheim" not in json.dumps(live.document())
