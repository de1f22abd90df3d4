"""A system is built once for each workload, with the sizes that follow from its rows."""

import pytest

from dbdyno.conduct.lineup import build_lineup
from dbdyno.conduct.resolve import resolve
from dbdyno.errors import UserError
from dbdyno.systems.base import System
from helpers import experiment


def test_a_share_of_the_data_is_another_size_for_each_workload():
    made = experiment(system="memcached?memory=50%", workload=["game", "point-get"], rows=1_000_000).experiment
    (spec,) = made.system
    lineup = build_lineup(made, made.system)
    game, point_get = (lineup.find(spec, workload).spec.settings["memory"] for workload in made.workload)
    assert int(game) > int(point_get) > 0
    assert lineup.find(spec, made.workload[0]) is lineup.find(spec, made.workload[0])


def test_what_cannot_be_is_refused():
    made = experiment(system="mariadd").experiment
    with pytest.raises(UserError, match="there is no system 'mariadd'"):
        build_lineup(made, made.system)


def test_resolving_builds_each_system_once_for_each_workload(monkeypatch):
    built = []
    monkeypatch.setattr(
        System, "__init__", lambda self, spec, real=System.__init__: (built.append(self), real(self, spec))[1]
    )
    resolve(experiment(system=["sqlite", "lmdb"], workload=["game", "point-get"]).experiment)
    assert len(built) == 4
