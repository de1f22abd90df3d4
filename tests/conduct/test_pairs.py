"""Pairs are added to the cells that a rule wants, until it wants none."""

import json
from types import SimpleNamespace

import pytest

from dbdyno.conduct.listener import Listener
from dbdyno.conduct.pairs import passes_of
from dbdyno.conduct.run import conduct
from dbdyno.experiment.trials import cells_of, expand, one_pass
from helpers import experiment


class Twice:
    """Wants the second cell two more times, and remembers its calls."""

    def __init__(self, named):
        self.cells, self.calls = cells_of(named.experiment), []

    def undecided(self, folder, planned, pair_s):
        trials = [trial.name for preparation in planned for trial in preparation.trials]
        assert all((folder / "trials" / name / "records.jsonl").is_file() for name in trials)
        self.calls.append((len(trials), planned[-1].repeat, pair_s))
        return [self.cells[1]] if len(self.calls) <= 2 else []

    def why(self, cells):
        return f"{cells} wanted"


@pytest.fixture
def named():
    sides = [{"system": "fake", "label": "one"}, {"system": "fake", "label": "other"}]
    return experiment(system=sides, clients=[1, 2], repeat=2, seconds=1, warmup_seconds=0)


def test_only_the_cells_that_are_wanted_go_on(fake_load, fake_system, tmp_path, named, monkeypatch):
    fake_load(second_s=0)
    rule = Twice(named)
    # A clock on which every trial takes a second.
    trials_run = SimpleNamespace(monotonic=lambda: len(list(tmp_path.glob("*/trials/*/records.jsonl"))))
    monkeypatch.setattr("dbdyno.conduct.pairs.time", trials_run)
    end = conduct(named, "", tmp_path, Listener(), rule)
    names = json.loads((end.folder / "run.json").read_text())["trials"]
    assert end.state == "complete" and [count for count, _, _ in rule.calls] == [8, 10, 12]
    assert [repeat for _, repeat, _ in rule.calls] == [2, 3, 4]
    assert [pair_s for _, _, pair_s in rule.calls] == [2, 2, 2]
    assert json.loads((end.folder / "run.json").read_text())["passes"] == [2, 2]
    assert {name[-3:] for name in names[8:]} == {"-c2"} and names == sorted(names)


def test_without_a_rule_there_are_as_many_as_planned(fake_load, fake_system, tmp_path, named):
    fake_load(second_s=0)
    end = conduct(named, "", tmp_path, Listener())
    assert len(json.loads((end.folder / "run.json").read_text())["trials"]) == 8


def test_passes_of_an_earlier_session_are_known_again_whatever_cells_they_had(named):
    single, double = cells_of(named.experiment)
    systems = named.experiment.system
    run = planned = expand(named.experiment, systems)
    for repeat, cells in enumerate(([double], [single], [single, double], [double]), 3):
        run = run + one_pass(named.experiment, systems, cells, repeat, run)
    names = [trial.name for preparation in run for trial in preparation.trials]
    assert planned + passes_of(named.experiment, systems, planned, names, [2, 2, 4, 2]) == run
    assert passes_of(named.experiment, systems, planned, names, []) == []
