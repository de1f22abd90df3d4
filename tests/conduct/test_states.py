"""A kept state is found again, decided on once, and gone in the end."""

import pytest

from dbdyno.conduct.states import Kept, States
from dbdyno.experiment.trials import expand
from dbdyno.systems.running.kept_data import KeptData
from helpers import experiment


@pytest.fixture
def sides():
    """Two configurations of one system, and one of another."""
    systems = ["redis", "redis?appendonly=yes", "lmdb"]
    made = experiment(system=systems, clients=[1]).experiment
    return expand(made, made.system)


def test_a_decision_holds_for_all_configurations_of_a_system(sides):
    states, (first, other, another) = States(), sides
    assert states.restored(first) is None
    states.decide(first, True)
    states.decide(other, False)
    assert (states.restored(first), states.restored(other), states.restored(another)) == (True, True, None)


def test_what_is_kept_is_found_by_its_configuration_and_removed(sides, tmp_path):
    states, (first, other, another) = States(), sides
    for number, side in enumerate((first, other)):
        (tmp_path / str(number)).mkdir()
        states.keep(side, Kept(KeptData(tmp_path / str(number)), "01-redis"))
    assert states.find(other).data.path == tmp_path / "1" and states.find(another) is None
    states.decide(first, True)
    states.drop(other)
    assert (states.restored(first), states.restored(other)) == (True, False)
    assert states.find(other) is None and [path.name for path in tmp_path.iterdir()] == ["0"]
    states.close()
    assert not list(tmp_path.iterdir())


def test_what_is_gone_with_its_host_is_kept_anew(sides, tmp_path):
    states, (first, *_) = States(), sides
    states.keep(first, Kept(KeptData(tmp_path / "gone"), "01-redis"))
    assert states.find(first) is None
    (tmp_path / "anew").mkdir()
    states.keep(first, Kept(KeptData(tmp_path / "anew"), "02-redis"))
    assert states.find(first).loaded_in == "02-redis"
    states.close()
    assert not list(tmp_path.iterdir())
