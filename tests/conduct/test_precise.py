"""Pairs are added until the intervals are narrow, to the cells that need it, and never more than twenty."""

import json
from dataclasses import replace

import pytest

from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.results.read import read_trial
from helpers import experiment

SIDES = [{"system": "fake", "label": "one"}, {"system": "fake", "label": "other"}]


class Added(Listener):
    """Remembers how many trials were added."""

    def __init__(self):
        self.added = []

    def trials_are_added(self, trials, why):
        self.added.append((trials, why))


@pytest.fixture
def run(fake_load, fake_system, tmp_path):
    """Run two sides with a wanted precision; returns what was added, and `run.json`."""

    def conducted(behaviour=None, **keys):
        fake_load(second_s=0, noise_count=str(tmp_path / "count"), **(behaviour or {}))
        listener = Added()
        base = {"system": SIDES, "precise": "1%", "clients": [1, 2], "seconds": 1, "warmup_seconds": 0}
        end = conduct(experiment(**(base | keys)), "", tmp_path, listener)
        return listener.added, json.loads((end.folder / "run.json").read_text())

    return conducted


def test_five_pairs_that_agree_are_enough(run):
    added, document = run()
    assert added == [] and len(document["trials"]) == 5 * 2 * 2
    assert (document["order"], document["seed"], document["state"]) == ("randomised ABBA blocks", 1, "complete")


def test_only_what_is_not_known_exactly_goes_on_and_not_for_ever(run, monkeypatch):
    monkeypatch.setattr("dbdyno.conduct.precise.MOST_PAIRS", 7)
    added, document = run({"noise": 0.5, "noisy_clients": 2})
    assert added == [(2, "one cell is not precise enough yet")] * 2
    names = document["trials"]
    assert len(names) == len(set(names)) == 20 + 4 and {name[-3:] for name in names[20:]} == {"-c2"}
    assert names == sorted(names)


def test_a_side_that_fails_is_not_asked_again(run):
    added, document = run({"noise": 0.5, "noisy_clients": 1, "errors": 1}, clients=[1])
    assert added == [] and document["state"] == "failed"


@pytest.mark.parametrize(("limited", "goes_on"), [(2, True), (3, False)])
def test_a_side_is_given_up_if_the_client_limited_most_of_its_trials(run, monkeypatch, limited, goes_on):
    def read(folder):
        trial = read_trial(folder)
        is_limited = trial.label == "one" and trial.facts.repeat <= limited
        return replace(trial, client_limited="its load threads were 99 % busy" if is_limited else None)

    monkeypatch.setattr("dbdyno.conduct.precise.read_trial", read)
    monkeypatch.setattr("dbdyno.conduct.precise.MOST_PAIRS", 7)
    added, _ = run({"noise": 0.5, "noisy_clients": 2})
    assert bool(added) is goes_on


def test_one_system_alone_is_refused(run, fake_load):
    with pytest.raises(UserError, match="one system and nothing to compare it with"):
        run(system="fake")
    assert SystemSpec("fake").label == ""
