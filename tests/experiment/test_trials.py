"""The order of trials, and their folders' names."""

from dbdyno.experiment.model import Experiment
from dbdyno.experiment.trials import expand, search_step
from helpers import experiment as small


def test_repetitions_then_systems_then_workloads_then_clients():
    experiment = Experiment.model_validate(
        {
            "workload": ["point-get", "game"],
            "system": ["sqlite", "cache-aside(memcached, mariadb)"],
            "rows": 1,
            "clients": [4, 1],
            "seconds": 1,
            "repeat": 2,
        }
    )
    preparations = expand(experiment, experiment.system)
    assert [one.name for one in preparations[:3]] == ["01-sqlite", "02-sqlite", "03-cache-aside-memcached-mariadb"]
    names = [trial.name for one in preparations for trial in one.trials]
    assert len(names) == len(set(names)) == 16
    assert names[:4] == [
        "001-sqlite-point-get-c4",
        "002-sqlite-point-get-c1",
        "003-sqlite-game-c4",
        "004-sqlite-game-c1",
    ]
    assert names[15] == "016-cache-aside-memcached-mariadb-game-c1"
    assert [one.repeat for one in preparations] == [1, 1, 1, 1, 2, 2, 2, 2]


def test_pipelines_then_rates_then_clients():
    experiment = small(clients=[1, 4], rate=[500, 1000]).experiment
    names = [trial.name for one in expand(experiment, experiment.system) for trial in one.trials]
    assert names == [
        "001-fake-game-c1-r500",
        "002-fake-game-c4-r500",
        "003-fake-game-c1-r1000",
        "004-fake-game-c4-r1000",
    ]
    pipelined = small(clients=[1, 4], pipeline=[1, 16]).experiment
    trials = [trial for one in expand(pipelined, pipelined.system) for trial in one.trials]
    assert [trial.name for trial in trials[1:3]] == ["002-fake-game-c4", "003-fake-game-c1-p16"]
    assert (trials[2].pipeline, trials[2].rate, trials[2].step) == (16, None, None)


def test_a_rate_search_begins_with_closed_loops_and_names_its_steps_after_them():
    experiment = small(clients=[1, 4], find_rate="p99 < 10ms").experiment
    _, first = expand(experiment, experiment.system)[0].trials
    assert (first.name, first.rate, first.step) == ("002-fake-game-c4", None, 0)
    step = search_step(first, 3, 12_000)
    assert (step.name, step.rate.per_s, step.step) == ("002-fake-game-c4-s03-r12000", (12_000,), 3)
    assert (step.clients, step.system) == (4, first.system)
