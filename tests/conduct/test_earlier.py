"""The completed trials of earlier sessions are distinguished from what is left to run."""

from dataclasses import replace

import pytest

from dbdyno.conduct.earlier import Earlier
from dbdyno.conduct.listener import Outcome
from dbdyno.errors import BuildReplaced, RunFailed
from dbdyno.experiment.trials import expand, search_step
from helpers import experiment


@pytest.fixture
def first():
    """Return the closed loop that a rate search begins with."""
    made = experiment(find_rate="p99 < 1ms", clients=[1]).experiment
    return expand(made, made.system)[0].trials[0]


def outcome_of(trial):
    return Outcome(trial, "complete", None, 100, 1.0, {"timeout": 1})


def test_a_trial_is_complete_by_its_outcome(fake_system, first):
    trial = replace(first, step=None)
    assert not Earlier().is_complete(trial)
    earlier = Earlier({trial.name: outcome_of(trial)})
    assert earlier.is_complete(trial) and list(earlier.outcomes_of(trial)) == [outcome_of(trial)]


def test_a_search_is_complete_when_it_came_to_an_answer(fake_system, first):
    trials = [first, search_step(first, 1, 500), replace(first, name="002-fake-game-c2")]
    outcomes = {trial.name: outcome_of(trial) for trial in trials}
    assert not Earlier(outcomes).is_complete(first)
    searched = Earlier(outcomes, frozenset([first.name]))
    assert searched.is_complete(first)
    # An operation that failed at some rate is no failure of the run.
    assert [(outcome.trial, outcome.errors) for outcome in searched.outcomes_of(first)] == [
        (trial, {}) for trial in trials[:2]
    ]


def server(**keys):
    return {"name": "a", "version": "1", "build": None, "config": None} | keys


@pytest.mark.parametrize("now", [{}, {"version": None}, {"effective_settings": {"port": "2"}}], ids=str)
def test_the_same_server_is_taken(now):
    Earlier(servers={"a": [server()]}).refuse_other_servers("a", [server(**now)])
    Earlier(servers={"a": [server()]}).refuse_other_servers("b", [server(version="2")])


@pytest.mark.parametrize("now", [{"version": "2"}, {"build": {"sha256": "2"}}, {"config": {"sha256": "2"}}], ids=str)
def test_another_server_is_refused(now):
    with pytest.raises(RunFailed, match=r"a: a has .* 2, and had .* in the complete trials") as refused:
        Earlier(servers={"a": [server()]}).refuse_other_servers("a", [server(**now)])
    assert (refused.value.exit_status == 2) == ("build" in now)


def test_the_same_client_is_taken_and_another_refused():
    build = {"path": "/mine", "sha256": "a"}
    earlier = Earlier(client_builds={"redis via mine": build})
    for label, now in (("redis via mine", build), ("redis via mine", None), ("redis", build | {"sha256": "b"})):
        earlier.refuse_other_client(label, now)
    with pytest.raises(BuildReplaced, match="redis via mine: /mine is another build than in the complete trials"):
        earlier.refuse_other_client("redis via mine", build | {"sha256": "b"})
