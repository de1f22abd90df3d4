"""The few figures that values of a run compute themselves."""

from pathlib import Path

from dbdyno.results.model import Trial
from dbdyno.results.records import read_records

NOTHING = read_records(Path("does-not-exist"))


def trial(**about):
    return Trial("007-x-game-c1", "complete", None, about, NOTHING, (), ())


def test_a_trial_is_called_by_its_label_or_else_its_system_or_else_its_own_name():
    assert trial(system="s", label="l").label == "l"
    assert trial(system="s").label == "s"
    assert trial().label == "007-x-game-c1" and trial().system is None


def test_nothing_measured_has_no_throughput():
    assert (NOTHING.seconds, NOTHING.completed, NOTHING.throughput_per_s) == (0, 0, None)


def test_observations_are_read_once_and_when_asked_for(tmp_path):
    trial = Trial("001", "complete", None, {}, read_records(tmp_path / "records.jsonl"), (), (), folder=tmp_path)
    (tmp_path / "observations.jsonl").write_text('{"at_unix_s": 1, "host.memory_available_bytes": 5}\n')
    assert trial.observations.mean("host.memory_available_bytes", 0, 1) == 5
    assert trial.observations is trial.observations
