"""The keys that a system has for itself, and the words that name them."""

import pytest
from pydantic import ValidationError

from dbdyno.experiment.variant import Variant


def words(**keys):
    return Variant.model_validate(keys).words


def test_only_what_is_given_is_named():
    assert words() == {} and Variant().given == {}
    assert words(rows=5, cpus={"server": [1]}, options={"access": "zipfian", "batch": 10}) == {
        "rows": "5",
        "server CPUs": "1",
        "access": "zipfian",
        "batch": "10",
    }


@pytest.mark.parametrize(
    ("rows", "short"),
    [
        (999, "999"),
        (1000, "1k"),
        (1234, "1234"),
        (1250, "1.25k"),
        (20_000, "20k"),
        (1_000_000, "1M"),
        (1_234_000, "1234k"),
        (1_234_567, "1234567"),
        (2_000_000_000, "2G"),
    ],
)
def test_rows_are_short_and_exact(rows, short):
    assert words(rows=rows) == {"rows": short}


@pytest.mark.parametrize(("number", "short"), [(0, "all"), (1, "1"), (1000, "1000")])
def test_a_connection_that_is_kept_has_all_transactions(number, short):
    assert words(transactions_per_connection=number) == {"transactions per connection": short}


@pytest.mark.parametrize(
    ("cpus", "short"), [([0], "0"), ([0, 1], "0-1"), ([3, 0, 1, 6], "0-1,3,6"), ([2, 4], "2,4")], ids=str
)
def test_processors_are_ranges(cpus, short):
    assert words(cpus={"client": cpus}) == {"client CPUs": short}


def test_other_keys_are_their_own_words():
    given = {"memory_limit": "1G", "data_dir": "/mnt/ssd", "restart": "none", "observe": False, "load_threads": 4}
    assert words(**given) == {
        "restart": "none",
        "observe": "off",
        "memory limit": "1G",
        "data dir": "/mnt/ssd",
        "load threads": "4",
    }


@pytest.mark.parametrize(
    "keys",
    [
        {"rows": 0},
        {"rows": "5"},
        {"clients": 3},
        {"data_dir": "ssd"},
        {"data_dir": "/a\nb"},
        {"memory_limit": "much"},
        {"load_threads": 0},
        {"transactions_per_connection": -1},
        {"restart": "hot"},
        {"cpus": {"both": [1]}},
        {"options": {"access": ["uniform"]}},
    ],
    ids=str,
)
def test_what_is_wrong_is_refused(keys):
    with pytest.raises(ValidationError):
        Variant.model_validate(keys)
