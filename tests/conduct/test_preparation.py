"""A system is started and loaded once for its trials, again after it died, and always stopped."""

import json
import time
from types import SimpleNamespace

import pytest

from dbdyno.conduct import preparation
from dbdyno.conduct.preparation import describe_system, make_launch, run_preparation
from dbdyno.errors import RunFailed
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.trials import expand
from dbdyno.systems.running.kept_data import KeptData
from helpers import system


@pytest.fixture
def run(context, fake_load, fake_system):
    """Run the first preparation of the small experiment; returns the context and the outcomes."""

    def run_first(behaviour=None, **keys):
        fake_load(**(behaviour or {}))
        running = context(**keys)
        preparation = expand(running.experiment, running.experiment.system)[0]
        return running, list(run_preparation(running, preparation))

    return run_first


def states(outcomes):
    return [outcome.state for outcome in outcomes]


def test_one_start_serves_all_its_trials(run, fake_system):
    running, outcomes = run()
    assert states(outcomes) == ["complete", "complete"]
    assert (fake_system.calls[0], fake_system.calls[-1], fake_system.calls.count("start")) == ("start", "stop", 1)
    folder = running.folder.path / "preparations" / "01-fake"
    document = json.loads((folder / "preparation.json").read_text())
    assert document["state"] == "complete" and document["durability"]["class"] == "D0"
    assert json.loads((folder / "plan.json").read_text())["phases"] == ["prepare", "load"]
    assert json.loads((folder / "settings.json").read_text()) == {"fake": {}}


def test_the_owner_of_an_attached_server_is_warned_once(context, fake_load, fake_system, monkeypatch):
    fake_load()
    monkeypatch.setattr(fake_system, "cautions", lambda self: ["it evicts keys"])
    running, warned = context(repeat=2, clients=[1]), []
    monkeypatch.setattr(running.listener, "owner_is_warned", lambda *what: warned.append(what))
    for planned in expand(running.experiment, running.experiment.system):
        assert states(run_preparation(running, planned)) == ["complete"]
    assert warned == [("fake", "it evicts keys")]


def test_a_system_that_does_not_start_fails_its_trials(run, fake_system):
    running, outcomes = run(system="fake?fail_start")
    assert states(outcomes) == ["failed", "failed"]
    assert {outcome.reason for outcome in outcomes} == {"fake did not start"}
    assert fake_system.calls == ["start", "stop"]
    assert len(list((running.folder.path / "trials").glob("*/trial.json"))) == 2


def test_a_system_that_cannot_be_loaded_fails_its_trials_and_is_stopped(run, fake_system):
    _, outcomes = run({"refuse": "prepare"})
    assert states(outcomes) == ["failed", "failed"]
    assert "fake could not be loaded: a table dbdyno_player without" in outcomes[0].reason
    assert fake_system.calls[-1] == "stop"


def test_after_a_death_the_other_trials_go_on(run, fake_system, monkeypatch):
    fake_system.deaths.append("fake was killed by SIGKILL")
    monkeypatch.setattr(fake_system, "stop", lambda self: (self.calls.append("stop"), self.deaths.clear()))
    running, outcomes = run(clients=[1, 2, 4])
    assert states(outcomes) == ["failed", "complete", "complete"]
    assert outcomes[0].reason == "fake was killed by SIGKILL during the trial"
    assert [word for word in fake_system.calls if word != "counters"] == ["start", "stop", "start", "stop"]
    assert {path.name for path in (running.folder.path / "preparations").iterdir()} == {"01-fake", "01-fake-again-1"}
    second = json.loads((running.folder.path / "trials" / outcomes[1].trial.name / "trial.json").read_text())
    assert second["preparation"] == "01-fake-again-1"


def phases_of(running):
    return [json.loads(path.read_text())["phases"] for path in sorted(running.folder.path.rglob("plan.json"))]


@pytest.fixture
def attached(monkeypatch):
    """Take the fake system for somebody else's."""
    monkeypatch.setattr(SystemSpec, "attached", property(lambda self: True))


def test_on_somebody_elses_store_what_was_made_is_removed(run, attached):
    running, _ = run()
    assert ["cleanup"] in phases_of(running)


def test_unless_it_is_to_be_kept(run, attached):
    running, _ = run(keep=True)
    assert ["cleanup"] not in phases_of(running)


def test_what_could_not_be_removed_is_told(run, attached):
    with pytest.raises(RunFailed, match=r"could not be removed .*dbdyno clean"):
        run({"refuse": "cleanup"})


def test_what_failed_first_is_told_before_what_could_not_be_removed(run, attached):
    _, outcomes = run({"refuse": "load cleanup"})
    first, then = outcomes[0].reason.split("; ", maxsplit=1)
    assert "could not be loaded" in first and "could not be removed" in then


def test_what_dbdyno_did_not_start_is_not_said_to_be_pinned(context, fake_system, monkeypatch):
    pinned = context(cpus={"server": [0]}, memory_limit="64M").experiment
    monkeypatch.setattr(fake_system, "server_pids", lambda self: {})
    facts = describe_system(system("fake"), pinned, 0.0)
    assert (facts.stated["server_cpus"], facts.stated["memory_limit_bytes"]) == (None, None)
    monkeypatch.setattr(fake_system, "server_pids", lambda self: {"fake": 1})
    facts = describe_system(system("fake"), pinned, 0.0)
    assert (facts.stated["server_cpus"], facts.stated["memory_limit_bytes"]) == ([0], 64 << 20)


def test_the_launch_has_room_for_the_most_clients(context, tmp_path):
    running = context(system="sqlite", clients=[1, 160, 8], cpus={"server": [0]}, memory_limit="64M")
    launch = make_launch(running, tmp_path)
    assert launch.clients >= 160 and launch.server_cpus == (0,) and launch.memory_limit_bytes == 64 << 20


@pytest.fixture
def repeated(context, fake_load, fake_system, tmp_path, monkeypatch):
    """Run an experiment of three repetitions on a system that can be restored; returns what its trials say."""

    def run_all(restore_s, **keys):
        monkeypatch.setattr(fake_system, "copies", tmp_path)
        monkeypatch.setattr(fake_system, "restore_s", restore_s)
        clock = SimpleNamespace(time=lambda: time.time() + fake_system.lost_s)
        monkeypatch.setattr(preparation, "time", clock)
        running = context(**({"repeat": 3, "clients": [1]} | keys))
        for planned in expand(running.experiment, running.experiment.system):
            assert states(run_preparation(running, planned)) == ["complete"]
        return running, [
            json.loads(path.read_text()) for path in sorted(running.folder.path.glob("trials/*/trial.json"))
        ]

    return run_all


def verbs(fake_system):
    return [verb for verb in fake_system.calls if verb != "counters"]


def test_every_repetition_starts_from_what_was_loaded_once(repeated, fake_system):
    running, trials = repeated(0.0)
    assert verbs(fake_system) == ["start", "keep", "restore", "stop", "restore", "stop", "restore", "stop"]
    assert [(trial["data"], trial["cache_state"]) for trial in trials] == [("restored", "lukewarm")] * 3
    first, second, _ = (
        json.loads(path.read_text()) for path in sorted(running.folder.path.glob("preparations/*/preparation.json"))
    )
    assert first["loaded_in"] == second["loaded_in"] == "01-fake" and "load_seconds" not in second
    assert first["load_seconds"] > 0 and second["restore_seconds"] >= 0
    loads = sorted(running.folder.path.glob("preparations/*/plan.json"))
    assert [path.parent.name for path in loads] == ["01-fake"]
    assert len(list(fake_system.copies.glob("kept-*"))) == 1


def test_where_a_copy_takes_longer_than_loading_every_repetition_is_loaded(repeated, fake_system):
    running, trials = repeated(3600.0)
    assert verbs(fake_system) == ["start", "keep", "restore", "stop", "start", *["stop", "start"] * 2, "stop"]
    assert [(trial["data"], trial["cache_state"]) for trial in trials] == [("loaded", "hot")] * 3
    assert not list(fake_system.copies.glob("kept-*"))
    folder = running.folder.path / "preparations" / "01-fake"
    assert (folder / "again" / "records.jsonl").exists()
    why = json.loads((folder / "preparation.json").read_text())["not_restored"]
    assert why.startswith("copy and start took 3600.") and "s, start and load " in why


def test_what_the_first_configuration_found_holds_for_the_others(repeated, fake_system):
    both = [{"system": "fake", "label": "one"}, {"system": "fake", "label": "other"}]
    repeated(0.0, system=both, repeat=2)
    assert verbs(fake_system)[:5] == ["start", "keep", "restore", "stop", "start"]
    assert verbs(fake_system).count("keep") == 2 and verbs(fake_system).count("restore") == 4


def test_without_room_for_a_copy_it_is_loaded(repeated, fake_system, monkeypatch):
    monkeypatch.setattr(KeptData, "has_room", lambda self: False)
    _, trials = repeated(0.0, repeat=2)
    assert verbs(fake_system) == ["start", "keep", "start", "stop", "start", "stop"]
    assert {trial["data"] for trial in trials} == {"loaded"}


def test_a_restart_is_on_a_copy_for_every_trial_and_cold_where_that_was_asked(run, fake_system, tmp_path, monkeypatch):
    monkeypatch.setattr(fake_system, "copies", tmp_path)
    # It takes longer than loading, and was requested all the same.
    monkeypatch.setattr(fake_system, "restore_s", 3600.0)
    launches = []
    start = fake_system.start
    monkeypatch.setattr(fake_system, "start", lambda self, launch: (launches.append(launch), start(self, launch)))
    running, outcomes = run(restart="cold")
    assert states(outcomes) == ["complete"]
    assert fake_system.calls[:3] == ["start", "keep", "restore"]
    assert [launch.cold for launch in launches] == [False, True]
    (trial,) = (running.folder.path / "trials").glob("*/trial.json")
    about = json.loads(trial.read_text())
    assert (about["restart"], about["data"], about["cache_state"]) == ("cold", "restored", "cold")
    assert about["answered_unix_s"] <= about["ended_unix_s"]


def test_a_load_before_the_restart_is_run_once_on_what_was_loaded(run, fake_system, tmp_path, monkeypatch):
    monkeypatch.setattr(fake_system, "copies", tmp_path)
    running, outcomes = run(restart="lukewarm", train_seconds=7, clients=[4, 2], repeat=1)
    assert states(outcomes) == ["complete"] and fake_system.calls[:3] == ["start", "keep", "restore"]
    (plan,) = (json.loads(path.read_text()) for path in running.folder.path.glob("preparations/*/train/plan.json"))
    assert (plan["phases"], plan["duration_s"], plan["warmup_s"]) == (["run"], 7, 0)
    assert plan["clients"]["of"] == 4


def test_without_room_for_a_copy_there_is_no_restart(run, fake_system, tmp_path, monkeypatch):
    monkeypatch.setattr(fake_system, "copies", tmp_path)
    monkeypatch.setattr(KeptData, "has_room", lambda self: False)
    _, outcomes = run(restart="lukewarm")
    assert states(outcomes) == ["failed"] and "no room for a copy" in outcomes[0].reason
