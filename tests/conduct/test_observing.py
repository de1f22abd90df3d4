"""Observations of a trial are written down, and what cannot be seen is said once in a run."""

import os

import pytest

from dbdyno.conduct.observing import StageObserver, end_observing, observer_of
from dbdyno.observe import pressure
from dbdyno.results.facts import TrialFacts
from dbdyno.results.observations import read_observations
from dbdyno.systems import build
from helpers import need, system

BEGUN = TrialFacts(warmup=None)


@pytest.fixture
def running(context, fake_system, monkeypatch):
    """A run of the fake system, whose listener remembers what is not seen; pressure is not."""
    monkeypatch.setattr(pressure, "_WANTED", (("nothing", "some"),))

    def make(**keys):
        going = context(**keys)
        going.listener.messages = []
        going.listener.not_seen = lambda *said: going.listener.messages.append(said)
        return going

    return make


def test_an_experiment_may_want_none(running, tmp_path):
    going = running(observe=False)
    system = build(going.experiment.system[0])
    assert observer_of(going, system, tmp_path) is None
    assert end_observing(going, None, tmp_path, BEGUN) is BEGUN


def test_a_trial_says_what_was_used_and_what_was_not_seen(running, tmp_path):
    going = running()
    system = build(going.experiment.system[0])
    observer = observer_of(going, system, tmp_path)
    with observer.watching(os.getpid(), False):
        pass
    facts = end_observing(going, observer, tmp_path, BEGUN)
    assert facts.observer_cpu_s > 0
    assert [used["process"] for used in facts.usage] == ["client"]
    assert "pressure" in [entry["band"] for entry in facts.not_seen]
    assert (tmp_path / "observations.parquet").exists()


def test_the_stages_of_a_trial_are_in_one_table(running, tmp_path):
    going = running()
    stages = StageObserver(going, build(going.experiment.system[0]), tmp_path)
    for _ in range(2):
        with stages.watching(os.getpid()):
            pass
    facts = end_observing(going, stages, tmp_path, BEGUN)
    assert facts.observer_cpu_s == pytest.approx(stages.cpu_s, abs=1e-6) and stages.cpu_s > 0
    assert [used["process"] for used in facts.usage] == ["client"]
    assert "pressure" in [entry["band"] for entry in facts.not_seen]
    # Each stage has a sample of its end, and one of its begin if it lasts so long.
    assert len(read_observations(tmp_path).at_unix_s) >= 2


def test_an_experiment_may_want_no_stage_observed(running, tmp_path):
    going = running(observe=False)
    stages = StageObserver(going, build(going.experiment.system[0]), tmp_path)
    with stages.watching(os.getpid()):
        pass
    assert stages.cpu_s == 0 and read_observations(tmp_path) is None


def test_what_cannot_be_seen_is_said_once(running, tmp_path):
    going = running()
    system = build(going.experiment.system[0])
    for _ in range(2):
        end_observing(going, observer_of(going, system, tmp_path), tmp_path, BEGUN)
    assert [band for band, _ in going.listener.messages].count("pressure") == 1


def test_records_that_cannot_be_understood_leave_processor_time_unknown(running, tmp_path):
    going = running()
    observer = observer_of(going, build(going.experiment.system[0]), tmp_path)
    with observer.watching(os.getpid(), False):
        (tmp_path / "records.jsonl").write_text("nonsense\n{}\n")
    (used,) = end_observing(going, observer, tmp_path, BEGUN).usage
    assert used["cores"] is None and used["resident_bytes"] > 0


def test_an_attached_server_is_found_by_its_socket(context, launch, tmp_path):
    need("redis")
    private = system("redis?connect=socket")
    private.start(launch)
    try:
        endpoint = private.endpoint
        attached = system(f"redis://:{endpoint.password}@localhost/0?socket={endpoint.socket}")
        try:
            attached.start(launch)
            observer = observer_of(context(), attached, tmp_path)
            with observer.watching(os.getpid(), False):
                pass
            used = end_observing(context(), observer, tmp_path, BEGUN).usage
        finally:
            attached.stop()
    finally:
        private.stop()
    assert {process["process"] for process in used} == {"client", "redis"}
