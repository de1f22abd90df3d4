"""The transactions, and the names and options that make a workload."""

import pytest

from dbdyno.load_python.choices import Choices
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.workloads import EMAIL, PLAYER, make_workload


class Noted:
    """Answers from the generator, in version 6, and notes what was asked."""

    def __init__(self):
        self.asked = []

    def get(self, step, key):
        self.asked.append(("get", step, key))
        return PLAYER.generate(key, 6)

    def find(self, step, value, key):
        self.asked.append(("find", step, value, key))

    def update(self, step, key, version):
        self.asked.append(("update", step, key, version))

    def add(self, step, key, delta):
        self.asked.append(("add", step, key, delta))


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("point-get", [("get", 0, 7)]),
        ("secondary-get", [("find", 0, 7, 7)]),
        ("point-update", [("add", 0, 7, 1)]),
        ("game", [("get", 0, 7), ("update", 1, 7, 7), ("find", 2, PLAYER.columns[EMAIL].value(7, 0), 7)]),
    ],
)
def test_each_transaction_asks_for_what_the_native_one_does(name, asked):
    noted = Noted()
    make_workload(name, 10, {}).run(noted, 7)
    assert noted.asked == asked


def test_sequential_clients_together_visit_every_key_in_order():
    workload = make_workload("game", 10, {"access": "sequential"})
    keys = [workload.key(Choices(1, client, 4, step)) for step in range(3) for client in range(4)]
    assert keys == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2]


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("tpcc", {}, "point-get, secondary-get"),
        ("game", {"acess": "x"}, "acess"),
        ("game", {"access": "x"}, "sequential"),
    ],
)
def test_what_is_not_there_is_refused_in_words(name, options, said):
    with pytest.raises(Ended, match=said) as refused:
        make_workload(name, 10, options)
    assert refused.value.status == "refused"
