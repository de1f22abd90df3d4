"""A run ends with its folder telling how it ended."""

import errno
import json
import os
import signal

import pytest

from dbdyno.conduct.listener import Listener, Outcome
from dbdyno.conduct.run import conduct, judge_run
from dbdyno.conduct.states import States
from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.read import read_experiment
from dbdyno.results.write import Lines, RunFolder
from dbdyno.systems import SYSTEMS
from helpers import experiment


class Recorder(Listener):
    """Remembers every event."""

    def __init__(self):
        self.heard = []

    def run_begins(self, folder, trials, trial_s):
        self.heard.append(f"run of {trials} of {trial_s} s")

    def system_is_skipped(self, label, reason):
        self.heard.append(f"skip {label}")

    def preparation_begins(self, preparation):
        self.heard.append(f"prepare {preparation.name}")

    def trial_begins(self, trial):
        self.heard.append(f"begin {trial.name}")

    def trial_ended(self, outcome):
        self.heard.append(f"end {outcome.trial.name} {outcome.state}")


def document_of(end):
    return json.loads((end.folder / "run.json").read_text())


def test_everything_in_order(fake_load, fake_system, tmp_path, monkeypatch):
    monkeypatch.setattr(SYSTEMS["redis"], "missing", classmethod(lambda cls: "not there"))
    listener = Recorder()
    named = experiment(system=["redis", "fake"], if_missing="skip", repeat=2, clients=[4])
    end = conduct(named, "dbdyno run mine", tmp_path, listener)
    assert listener.heard == [
        "run of 2 of 3 s",
        "skip redis",
        "prepare 01-fake",
        "begin 001-fake-game-c4",
        "end 001-fake-game-c4 complete",
        "prepare 02-fake",
        "begin 002-fake-game-c4",
        "end 002-fake-game-c4 complete",
    ]
    assert (end.state, end.reason) == ("complete", None)
    document = document_of(end)
    assert document["state"] == "complete" and document["ended_unix_s"] >= document["started_unix_s"]
    assert document["trials"] == ["001-fake-game-c4", "002-fake-game-c4"]
    assert document["skipped"] == [{"system": "redis", "reason": "not there"}]
    assert document["command"] == "dbdyno run mine"
    assert json.loads((end.folder / "environment.json").read_text())["cpus"]


def test_the_host_is_measured_before_and_after_a_run_unless_it_is_not_wanted(fake_load, fake_system, tmp_path):
    for wanted in (True, False):
        end = conduct(experiment(clients=[1], seconds=1, host=wanted), "dbdyno run mine", tmp_path, Listener())
        environment = json.loads((end.folder / "environment.json").read_text())
        assert (environment["measured"] is not None) is wanted is ("measured_after" in environment)
        if wanted:
            before, after = (environment[when]["at_unix_s"] for when in ("measured", "measured_after"))
            (begun,) = (
                json.loads(file.read_text())["started_unix_s"] for file in end.folder.glob("trials/*/trial.json")
            )
            assert before < begun < after < json.loads((end.folder / "run.json").read_text())["ended_unix_s"]


def test_its_experiment_can_be_run_again(fake_load, fake_system, tmp_path):
    end = conduct(experiment(), "", tmp_path, Listener())
    again = read_experiment(str(end.folder / "experiment.toml"))
    assert again.experiment == experiment(system={"system": "fake", "label": "fake"}).experiment


def test_one_bad_system_does_not_stop_the_others(fake_load, fake_system, tmp_path):
    fake_load(die="load", only_if='"name": "point-get"')
    end = conduct(experiment(workload=["point-get", "game"], clients=[1]), "", tmp_path, Listener())
    assert end.state == "failed"
    assert end.reason.startswith("1 of 2 trials failed; the first: fake could not be loaded")


def test_nothing_is_left_behind_where_nothing_could_begin(fake_load, tmp_path):
    with pytest.raises(UserError):
        conduct(experiment(system="nosuch"), "", tmp_path / "runs", Listener())
    assert not (tmp_path / "runs").exists()


def test_a_full_disk_is_said_and_the_system_stopped(fake_load, fake_system, tmp_path, monkeypatch):
    def full(self, line):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Lines, "append", full)
    with pytest.raises(RunFailed, match="No space left on device: nothing more can be recorded"):
        conduct(experiment(), "", tmp_path, Listener())
    assert fake_system.calls[-1] == "stop"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "quota exceeded: nothing more can be recorded; free some space"),
        (OSError(errno.ENOEXEC, "Exec format error", "x"), "Exec format error: x: the run could not go on"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files: the run could not go on"),
    ],
)
def test_only_a_full_disk_is_told_to_free_space(error, said, fake_load, fake_system, tmp_path, monkeypatch):
    def fail(self, line):
        raise error

    monkeypatch.setattr(Lines, "append", fail)
    with pytest.raises(RunFailed, match=said) as caught:
        conduct(experiment(), "", tmp_path, Listener())
    assert ("free some space" in str(caught.value)) == ("free some space" in said)
    (run,) = tmp_path.glob("*/run.json")
    assert json.loads(run.read_text())["state"] == "failed"


def test_an_interrupt_outside_of_all_trials_is_an_interrupted_run(fake_load, fake_system, tmp_path):
    class Impatient(Listener):
        def run_begins(self, folder, trials, trial_s):
            raise KeyboardInterrupt

    end = conduct(experiment(), "", tmp_path, Impatient())
    assert end.state == document_of(end)["state"] == "interrupted"


def test_an_interrupt_between_trials_is_an_interrupted_run(fake_load, fake_system, tmp_path):
    class Impatient(Listener):
        def preparation_begins(self, preparation):
            raise KeyboardInterrupt

    end = conduct(experiment(), "", tmp_path, Impatient())
    assert end.state == document_of(end)["state"] == "interrupted"


def test_a_signal_while_the_folder_is_made_is_an_interrupted_run(fake_load, fake_system, tmp_path, monkeypatch):
    create = RunFolder.create

    def struck(*arguments):
        os.kill(os.getpid(), signal.SIGTERM)
        return create(*arguments)

    monkeypatch.setattr(RunFolder, "create", struck)
    end = conduct(experiment(), "", tmp_path, Listener())
    assert end.state == document_of(end)["state"] == "interrupted"


def test_a_signal_after_the_last_word_leaves_the_run_complete(fake_load, fake_system, tmp_path, monkeypatch):
    close = States.close

    def struck(states):
        os.kill(os.getpid(), signal.SIGTERM)
        close(states)

    monkeypatch.setattr(States, "close", struck)
    end = conduct(experiment(clients=[1], seconds=1, host=False), "", tmp_path, Listener())
    assert end.state == document_of(end)["state"] == "complete"


def test_a_run_that_cannot_even_be_begun_is_told(fake_load, fake_system, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(RunFolder, "write_run", fail)
    with pytest.raises(RunFailed, match="free some space"):
        conduct(experiment(), "", tmp_path, Listener())


def outcome(state="complete", errors=None):
    return Outcome(None, state, "broken" if state == "failed" else None, 1, 1.0, errors or {})


def test_judging():
    assert judge_run([outcome()], [], False) == ("complete", None)
    assert judge_run([outcome()], [], True) == ("interrupted", "by the user")
    assert judge_run([outcome()], ["left something"], False) == ("failed", "left something")
    first = "1 of 2 trials failed; the first: broken"
    assert judge_run([outcome(), outcome("failed")], [], False) == ("failed", first)
    # What is left behind does not hide what trials saw, and an interrupt hides neither.
    assert judge_run([outcome(), outcome("failed")], ["left something"], False) == (
        "failed",
        f"{first}; left something",
    )
    assert judge_run([outcome()], ["left something"], True) == ("interrupted", "by the user; left something")
    state, reason = judge_run([outcome(), outcome(errors={"timeout": 3})], [], False)
    assert (state, reason) == ("failed", "operations failed in 1 of 2 trials; in the first: 3 timeout")
