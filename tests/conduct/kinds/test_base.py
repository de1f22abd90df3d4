"""A key that a kind lacks is refused; every workload has a kind, and every kind an entry."""

import pytest

from dbdyno.conduct.kinds import KINDS, kind_of
from dbdyno.conduct.kinds.base import refuse_keys, refuse_load
from dbdyno.errors import UserError
from dbdyno.experiment.workloads import WORKLOADS, Kind
from helpers import experiment, system, workload


def test_every_kind_has_its_module():
    assert set(KINDS) == set(Kind)
    assert all(kind_of(workload(name)) is KINDS[definition.kind] for name, definition in WORKLOADS.items())


def test_the_first_key_that_is_asked_for_is_named():
    refuse_keys({"rate": False}, "it has none")
    with pytest.raises(UserError, match=r"^pipeline: it has none: leave pipeline out$"):
        refuse_keys({"rate": False, "pipeline": True, "profile": True}, "it has none")


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"workload": ["game", "point-get"]}, "workload"),
        ({"clients": [2]}, "clients"),
        ({"pipeline": [2]}, "pipeline"),
        ({"find_rate": "p99 < 1ms"}, "rate"),
        ({"precise": "1%"}, "precise"),
        ({"confirm_limit": True}, "confirm_limit"),
        ({"profile": True}, "profile"),
    ],
)
def test_what_only_a_load_of_clients_has_is_refused(keys, key):
    wanted = experiment(**{"clients": [1]} | keys).experiment
    with pytest.raises(UserError, match=f"^{key}: it asks"):
        refuse_load(wanted, "it asks")


def test_a_kind_may_have_repetitions():
    refuse_load(experiment(clients=[1], repeat=2).experiment, "it asks")


def test_a_restart_needs_room_for_a_copy():
    sqlite, game = system("sqlite"), workload("game")
    plain, restarted = (
        kind_of(game).space(experiment(system="sqlite", **keys).experiment, game, sqlite)
        for keys in ({}, {"restart": "cold"})
    )
    assert restarted.disk_bytes == pytest.approx(2.2 * plain.disk_bytes) and plain.disk_bytes > 0
