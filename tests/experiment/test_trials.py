"""The order of trials, and their folders' names."""

from dbdyno.experiment.model import Experiment
from dbdyno.experiment.trials import expand


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
