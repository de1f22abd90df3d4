"""Every key's type and range; settings that are lists make a system for each combination."""

import pytest
from pydantic import ValidationError

from dbdyno.experiment.model import Experiment

LEAST = {"workload": "game", "system": "sqlite", "rows": 10, "clients": 1, "seconds": 1}


def read(**keys):
    return Experiment.model_validate(LEAST | keys)


def test_what_is_left_out_has_its_default():
    experiment = read()
    assert ([*map(str, experiment.workload)], experiment.clients, experiment.repeat) == (["game"], [1], 1)
    assert (experiment.warmup_seconds, experiment.operation_timeout_seconds, experiment.if_missing) == (1, 10, "error")


@pytest.mark.parametrize(
    "keys",
    [
        {"clients": []},
        {"clients": [0]},
        {"clients": [1, 1]},
        {"clients": "8"},
        {"seconds": 0},
        {"seconds": 1.5},
        {"seconds": True},
        {"rows": 0},
        {"rows": 1 << 31},
        {"workload": "gaem"},
        {"workload": []},
        {"system": []},
        {"system": 3},
        {"system": {"name": "mariadb"}},
        {"system": {"system": "mariadb", "settings": {"log_bin": True}}},
        {"system": {"system": "mariadb", "settings": "x"}},
        {"if_missing": "ignore"},
        {"memory_limit": "much"},
        {"cpus": {"clients": [0]}},
        {"options": {"access": "random"}},
        {"options": {"access": ["uniform", "random"]}},
        {"options": {"access": []}},
        {"options": {"access": True}},
        {"scale": "small"},
        {"scale": ["small"], "rows": {"small": 1}},
        {"seconds": {"small": "1"}},
        {"system": {"system": "mariadb", "scale": "full"}},
        {"unknown": 1},
        {"rate": 0},
        {"rate": 1e9},
        {"rate": 100, "find_rate": "p99 < 1ms"},
        {"rate": {"ramp": [1, 2], "seconds": 3600}},
        {"rate": ["50%", 1000]},
        {"rate": "101%"},
        {"rate": "50%", "find_rate": "p99 < 1ms"},
        {"rate": "50%", "precise": "1%"},
        {"rate": 100, "pipeline": 16},
        {"arrivals": "poisson"},
        {"profile": True, "find_rate": "p99 < 10ms"},
        {"profile": "on stall"},
        {"profile": "on-stall", "seconds": 7},
        {"profile": "on-stall", "seconds": 60, "warmup": "auto"},
        {"profile": "on-stall", "seconds": 60, "rate": {"ramp": [10, 20], "seconds": 60}},
        {"profile": "on-stall", "seconds": 60, "workload": "sysbench"},
        {"rate": 100, "arrivals": "bursts"},
        {"find_rate": 10},
        {"restart": "hot"},
        {"train_seconds": 5},
        {"train_seconds": -1, "restart": "cold"},
        {"restart": "cold", "find_rate": "p99 < 1ms"},
        {"find_rate": "fast"},
        {"pipeline": 0},
        {"pipeline": [16, 16]},
        {"ceiling": 1},
        {"warmup": 5},
        {"clients": "64..1"},
        {"clients": "0..8"},
        {"clients": "1..x"},
        {"precise": 0.01},
        {"precise": "1"},
        {"precise": "0%"},
        {"precise": "1%", "repeat": 4},
        {"precise": "1%", "repeat": 21},
        {"precise": "1%", "rate": 100},
        {"until_flat": 0.03},
        {"until_flat": "3%", "repeat": 2},
        {"until_flat": "3%", "precise": "1%"},
        {"until_flat": "3%", "restart": "lukewarm"},
        {"until_flat": "3%", "rate": 100},
        {"until_flat": "3%", "find_rate": "p99 < 1ms"},
        {"until_flat": "3%", "clients": [8, 1]},
        {"warmup": "auto", "rate": {"ramp": [1, 2], "seconds": 1}},
    ],
    ids=str,
)
def test_what_is_wrong_is_refused(keys):
    with pytest.raises(ValidationError):
        read(**keys)


def test_what_is_given_by_scale_is_chosen_before_all_else():
    sizes = {"rows": {"small": 10, "full": 1000}, "clients": {"small": [1, 8], "full": "1..64"}}
    assert (read(**sizes).rows, read(**sizes).clients, read(**sizes).repeat) == (10, [1, 8], 1)
    full = read(**sizes, scale="full")
    assert (full.scale, full.rows, full.clients[-1], full.repeat) == ("full", 1000, 64, 2)
    batches = read(workload="batch-get", options={"batch": {"small": [1, 100], "full": 7}})
    assert [*map(str, batches.workload)] == ["batch-get?batch=1", "batch-get?batch=100"]
    pools = {"system": "mariadb", "settings": {"innodb_buffer_pool_size": {"small": ["8M", "9M"], "medium": "1G"}}}
    assert len(read(system=[pools, "sqlite"]).system) == 3
    with pytest.raises(ValidationError, match=r"settings\.innodb_buffer_pool_size has only small, medium"):
        read(system=[pools], scale="full")


def test_lists_of_settings_are_crossed():
    settings = {"innodb_doublewrite": ["on", "off"], "sync_binlog": [0, 1]}
    systems = read(system=["redis", {"system": "mariadb?engine=InnoDB", "settings": settings}]).system
    assert len(systems) == 5
    assert systems[4].settings == {"engine": "InnoDB", "innodb_doublewrite": "off", "sync_binlog": "1"}
    assert len({spec.label for spec in systems}) == 5


def test_a_label_is_kept():
    assert read(system={"system": "mariadb", "label": "ours"}).system[0].label == "ours"


def test_a_memory_limit_in_bytes():
    assert read(memory_limit="64M").memory_limit_bytes == 64 << 20
    assert read().memory_limit_bytes is None


def test_a_sweep_doubles_and_is_run_twice():
    assert (read(clients="1..64").clients, read(clients="1..64").repeat) == ([1, 2, 4, 8, 16, 32, 64], 2)
    assert read(clients="3..20").clients == [3, 6, 12, 20]
    assert read(clients="1..64", repeat=1).repeat == 1
    assert read(clients=[1, 64]).repeat == 1
    assert (read(clients="1..64", until_flat="3%").repeat, read(until_flat="3%").until_flat) == (1, 0.03)


def test_a_sweep_without_an_end_has_one_all_the_same():
    experiment = read(clients="1..", until_flat="3%")
    assert (experiment.clients, experiment.repeat) == ([1 << power for power in range(11)], 1)
    assert read(clients="300 ..", until_flat="50%").clients == [300, 600, 1024]
    for keys in ({}, {"repeat": 1}):
        with pytest.raises(ValidationError, match=r"1\.\. needs something to end it: until_flat"):
            read(clients="1..", **keys)
    with pytest.raises(ValidationError, match=r"rises from at least 1, and without an end up to 1,024"):
        read(clients="1024..", until_flat="3%")


@pytest.mark.parametrize(
    ("share", "why"), [("0%", "no measured curve is flat"), ("51%", "at most 50%: with more"), ("3", "not a percent")]
)
def test_how_flat_is_flat(share, why):
    with pytest.raises(ValidationError, match=why):
        read(until_flat=share)


def test_a_wanted_precision_begins_with_five_pairs():
    assert (read(precise="1%").precise, read(precise="1%").repeat) == (0.01, 5)
    assert read(precise="0.5 %", repeat=7).repeat == 7


def test_an_option_that_is_a_list_makes_variants_of_the_workload():
    experiment = read(workload=["batch-get"], options={"batch": [1, "100"], "access": "sequential"})
    assert [*map(str, experiment.workload)] == ["batch-get?batch=1", "batch-get?batch=100"]
    assert experiment.options == {"access": "sequential"}
    again = read(workload=[*map(str, experiment.workload)], options=experiment.options)
    assert again == experiment


def test_how_much_there_is_of_a_workload():
    plain = read(workload=["game", "insert-indexes?indexes=3", "oltp?tables=4"], rows=10)
    assert [workload.records(plain.rows) for workload in plain.workload] == [30, 40, 80]
    assert [workload.data_bytes(plain.rows) for workload in plain.workload] == [18_500, 160, 7840]


def test_a_share_of_nothing_is_refused_in_the_words_of_what_it_is_for():
    with pytest.raises(ValueError, match="no measured curve is flat to within 0 %"):
        read(until_flat="0%")
    with pytest.raises(ValueError, match="no number of trials"):
        read(precise="0%")


def test_a_stall_is_profiled_in_trials_that_last_longer_than_it_takes_to_see_it():
    assert read(profile="on-stall", seconds=8).profile == "on-stall"
    with pytest.raises(ValidationError, match="give seconds = 8 or more"):
        read(profile="on-stall", seconds=7)
