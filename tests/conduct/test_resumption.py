"""A run that was cut short goes on in its folder, and ends as if nobody had cut it."""

import json
import shutil
from itertools import count

import pytest

from dbdyno.conduct import resumption
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.resumption import resume
from dbdyno.conduct.run import conduct
from dbdyno.errors import UserError
from dbdyno.report.document import document
from dbdyno.results.lock import locked
from dbdyno.results.read import read_run
from helpers import experiment

SIDES = [{"system": "fake", "label": "one"}, {"system": "fake", "label": "other"}]
SHORT = {"seconds": 1, "warmup_seconds": 0, "ceiling": False, "host": False, "observe": False}
SHAPES = {
    "a sweep": ({}, {"system": SIDES, "clients": [1, 2]}),
    "repetitions": ({}, {"system": SIDES, "clients": [1, 2], "repeat": 2}),
    "shares of capacity": ({}, {"system": SIDES, "clients": [1, 2], "rate": ["50%", "70%"]}),
    "a sweep until it is flat": ({"most_per_s": 4000}, {"clients": [1, 2, 4, 8, 16, 32, 64], "until_flat": "3%"}),
    "a rate search": ({"capacity_per_s": 1000}, {"clients": [1], "seconds": 2, "find_rate": "mean < 5ms"}),
    "a precision": ({}, {"system": SIDES, "clients": [1, 2], "precise": "1%"}),
}


class Cut(Listener):
    """Interrupts the run in the middle of a trial, counted from 1."""

    def __init__(self, trial):
        self.begun, self._trial = [], trial

    def trial_begins(self, trial):
        self.begun.append(trial.name)

    def record_came(self, record):
        if record["record"] == "interval" and len(self.begun) == self._trial:
            raise KeyboardInterrupt


def about(folder):
    return json.loads((folder / "run.json").read_text())


def complete(folder):
    """Return the records of every complete trial, by its name."""
    trials = [trial for trial in read_run(folder).trials if trial.state == "complete"]
    return {trial.name: (trial.folder / "records.jsonl").read_bytes() for trial in trials}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_that_is_cut_short_again_and_again_ends_as_one_that_was_not(
    shape, fake_load, fake_system, tmp_path, monkeypatch
):
    monkeypatch.setattr("dbdyno.conduct.precise.MOST_PAIRS", 7)
    monkeypatch.setattr("dbdyno.conduct.precise.is_narrow", lambda comparison, share: False)
    load_client, keys = SHAPES[shape]
    in_a_session = 6 if "precise" in keys else 2
    named = experiment(**(SHORT | keys))
    fake_load(second_s=0, **load_client)
    whole = conduct(named, "dbdyno run mine", tmp_path / "whole", Listener())
    expected = about(whole.folder)
    listener = Cut(in_a_session)
    end = conduct(named, "dbdyno run mine", tmp_path / "cut", listener)
    kept = {}
    for session in count(2):
        assert len(listener.begun) <= in_a_session and not kept.keys() & set(listener.begun)
        now = complete(end.folder)
        assert kept.items() <= now.items()
        kept = now
        if end.state == "complete":
            break
        assert (end.state, session < 2 * len(expected["trials"])) == ("interrupted", True)
        listener = Cut(in_a_session)
        end = resume(end.folder, f"session {session}", listener)
    ended = about(end.folder)
    assert ended["trials"] == expected["trials"] == list(kept)
    assert ended.get("left_out") == expected.get("left_out")
    assert ended["state"] == expected["state"] == "complete" and len(ended["sessions"]) == session - 1 > 1
    for search, other in zip(ended.get("find_rate", ()), expected.get("find_rate", ()), strict=True):
        assert search == other
    assert [session["command"] for session in ended["sessions"]][:2] == ["dbdyno run mine", "session 2"]
    assert all((end.folder / session["records"] / "run.json").is_file() for session in ended["sessions"][:-1])


def test_failed_trials_are_run_again_and_their_records_are_kept_beside(fake_load, fake_system, tmp_path):
    fake_load(second_s=0, mismatches=1, only_if='"count": 2')
    end = conduct(experiment(**SHORT, clients=[1, 2, 4]), "dbdyno run mine", tmp_path, Listener())
    assert end.state == "failed"
    failed = (end.folder / "trials/002-fake-game-c2/records.jsonl").read_bytes()
    fake_load(second_s=0)
    listener = Cut(0)
    assert resume(end.folder, "", listener).state == "complete"
    assert listener.begun == ["002-fake-game-c2"]
    assert (end.folder / "earlier/01/trials/002-fake-game-c2/records.jsonl").read_bytes() == failed
    assert json.loads((end.folder / "earlier/01/run.json").read_text())["state"] == "failed"
    trials = read_run(end.folder).trials
    assert [trial.about["preparation"] for trial in trials] == ["01-fake", "01-fake-again-1", "01-fake"]


def test_failed_operations_of_complete_trials_still_fail_the_run(fake_load, fake_system, tmp_path):
    fake_load(second_s=0, errors=1, only_if='"count": 1')
    end = conduct(experiment(**SHORT), "dbdyno run mine", tmp_path, Cut(2))
    assert end.state == "interrupted"
    end = resume(end.folder, "", Listener())
    assert (end.state, end.reason) == ("failed", "operations failed in 1 of 2 trials; in the first: 1 server")


def test_every_repetition_begins_as_the_first_ones_did(fake_load, fake_system, tmp_path, monkeypatch):
    fake_load(second_s=0)
    for restore_s, state in ((0.0, "restored"), (100.0, "loaded")):
        (tmp_path / state).mkdir()
        monkeypatch.setattr(fake_system, "copies", tmp_path / state)
        monkeypatch.setattr(fake_system, "restore_s", restore_s)
        monkeypatch.setattr("dbdyno.conduct.preparation.time", Clock(fake_system))
        named = experiment(**SHORT, clients=[1], repeat=3)
        end = conduct(named, "dbdyno run mine", tmp_path, Cut(2))
        # The time of a copy now decides nothing: repetitions that began otherwise could not be compared.
        monkeypatch.setattr(fake_system, "restore_s", 100.0 - restore_s)
        assert resume(end.folder, "", Listener()).state == "complete"
        assert [trial.about["data"] for trial in read_run(end.folder).trials] == [state] * 3


class Clock:
    """The time, with what a start on a copy adds to it."""

    def __init__(self, system):
        self._system, self._ticks = system, count()

    def time(self):
        return next(self._ticks) / 1000 + self._system.lost_s


@pytest.fixture
def cut(fake_load, fake_system, tmp_path):
    """Return the folder of a run with one complete trial of two."""
    fake_load(second_s=0)
    end = conduct(experiment(**SHORT), "dbdyno run mine", tmp_path, Cut(2))
    assert end.state == "interrupted"
    return end.folder


def refused(folder):
    """Return why a run is not resumed; nothing in its folder has changed then."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(UserError) as caught:
        resume(folder, "", Listener())
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert str(caught.value).startswith(f"{folder}: ") and "\n" not in str(caught.value)
    return str(caught.value)


def changed(file, **facts):
    file.write_text(json.dumps(json.loads(file.read_text()) | facts))


@pytest.mark.parametrize("fact", ["host", "kernel", "cpus_usable", "dbdyno", "dbdyno_load_sha256"])
def test_another_host_or_program_is_refused(cut, fact):
    changed(cut / "environment.json", **{fact: "another"})
    said = refused(cut)
    assert "cannot be resumed" in said and "was another and is" in said


def test_a_difference_that_no_figure_depends_on_is_a_warning_in_the_run(cut):
    changed(cut / "environment.json", python="3.0.0")
    assert resume(cut, "", Listener()).state == "complete"
    (warning,) = about(cut)["sessions"][-1]["warnings"]
    assert warning.startswith("Python was 3.0.0 and is ")
    run_document = document(read_run(cut))
    assert warning in str(run_document["sessions"])
    assert [session["host"] for session in run_document["environment"]["resumed"]] == [
        run_document["environment"]["host"]
    ]


@pytest.mark.parametrize(
    "differs", [{"version": "2"}, {"build": {"sha256": "2"}}, {"config": {"sha256": "2"}}], ids=str
)
def test_another_server_is_refused_before_anything_is_recorded(cut, fake_system, monkeypatch, differs):
    servers = fake_system.servers
    monkeypatch.setattr(fake_system, "servers", lambda system: [server | differs for server in servers(system)])
    said = refused(cut)
    assert "fake: fake has " in said and "in the complete trials" in said
    assert fake_system.calls[-1] == "stop"


def test_a_system_that_is_missing_now_is_refused(cut, fake_system, monkeypatch):
    monkeypatch.setattr(fake_system, "missing", classmethod(lambda cls: "not there"))
    with pytest.raises(UserError, match="fake: not there"):
        resume(cut, "", Listener())


def test_a_system_that_was_left_out_stays_so(fake_load, fake_system, tmp_path, monkeypatch):
    fake_load(second_s=0)
    with monkeypatch.context() as patch:
        patch.setattr("dbdyno.systems.redis.redis.Redis.missing", classmethod(lambda cls: "not there"))
        named = experiment(**SHORT, system=["redis", "fake"], if_missing="skip")
        end = conduct(named, "dbdyno run mine", tmp_path, Cut(2))
    end = resume(end.folder, "", Listener())
    assert end.state == "complete" and about(end.folder)["systems"] == ["fake"]
    assert about(end.folder)["skipped"] == [{"system": "redis", "reason": "not there"}]


def test_a_run_that_goes_on_is_refused(cut):
    with locked(cut):
        assert "still going on" in refused(cut)
    assert resume(cut, "", Listener()).state == "complete"


def test_a_folder_that_was_changed_is_refused(cut):
    file = cut / "experiment.toml"
    file.write_text(file.read_text().replace("clients = [\n    1,", "clients = [\n    8,"))
    assert "experiment.toml and run.json differ" in refused(cut)


def test_a_run_that_was_killed_before_it_recorded_anything_is_refused(cut):
    (cut / "experiment.toml").unlink()
    assert "run it again: dbdyno run mine" in refused(cut)


def test_a_trial_is_complete_with_all_that_the_experiment_wants_of_it(cut):
    trial = cut / "trials/001-fake-game-c1"
    wanted = experiment(**SHORT, profile=True).experiment
    assert resumption._read_complete(cut, trial.name, experiment(**SHORT).experiment) is not None
    assert resumption._read_complete(cut, trial.name, wanted) is None
    (trial / "profile").mkdir()
    (trial / "profile/profile.json").write_text("{}")
    assert resumption._read_complete(cut, trial.name, wanted) is not None
    (trial / "records.jsonl").write_text("damaged\n")
    shutil.rmtree(trial / "profile")
    (trial / "summary.npz").unlink(missing_ok=True)
    assert resumption._read_complete(cut, trial.name, experiment(**SHORT).experiment) is None


def test_a_run_whose_trials_are_all_complete_is_only_ended(fake_load, fake_system, tmp_path):
    fake_load(second_s=0)
    end = conduct(experiment(**SHORT), "dbdyno run mine", tmp_path, Listener())
    # As a kill leaves it that comes before the last word.
    changed(end.folder / "run.json", state="running", ended_unix_s=None)
    listener = Cut(0)
    assert resume(end.folder, "", listener).state == "complete" and listener.begun == []
    assert about(end.folder)["ended_unix_s"] >= about(end.folder)["sessions"][-1]["started_unix_s"]
