"""A trial of clients is run once, or is a search, or is offered a share of what was measured."""

from types import SimpleNamespace

import pytest

from dbdyno.conduct.kinds import kind_of, load
from helpers import experiment, workload


@pytest.mark.parametrize(
    ("keys", "way"),
    [
        ({}, "run_trial"),
        ({"rate": 5}, "run_trial"),
        ({"find_rate": "p99 < 1s"}, "find_rate"),
        ({"rate": "50%"}, "run_share"),
    ],
)
def test_the_way_follows_from_the_experiment(monkeypatch, keys, way):
    ways = []
    for name, outcome in (("run_trial", "outcome"), ("run_share", "outcome"), ("find_rate", ["outcome"])):
        monkeypatch.setattr(load, name, lambda *_, name=name, outcome=outcome: ways.append(name) or outcome)
    wanted = experiment(**keys).experiment
    rate = wanted.rate[0] if wanted.rate else None
    context, trial = SimpleNamespace(experiment=wanted), SimpleNamespace(rate=rate)
    assert [*kind_of(workload("game")).run(context, None, trial)] == ["outcome"]
    assert ways == [way]
