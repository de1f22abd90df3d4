"""What a workload needs is held against what a store can do."""

import pytest

from dbdyno.experiment.workloads import (
    WORKLOADS,
    check_options,
    find_workload,
    missing_operations,
    split_variant,
    variants,
)
from dbdyno.load_python.workloads import make_workload


def test_an_unknown_workload_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"did you mean 'game'.*point-get"):
        find_workload("gaem")


def test_options_are_checked():
    check_options(WORKLOADS["game"], {"access": "sequential"})
    with pytest.raises(ValueError, match="uniform, sequential"):
        check_options(WORKLOADS["game"], {"access": "random"})
    with pytest.raises(ValueError, match="no option 'acces'"):
        check_options(WORKLOADS["game"], {"acces": "uniform"})
    check_options(WORKLOADS["db-stress"], {"rw": "0", "partitions": "16"})
    with pytest.raises(ValueError, match="has no line breaks and no control characters"):
        check_options(WORKLOADS["game"], {"access": "\x1b[31m"})
    for wrong in ("0", "1025", "-1", "some", "9" * 100):
        with pytest.raises(ValueError, match=f"partitions = '{wrong}' of 'db-stress': give 1 to 1024"):
            check_options(WORKLOADS["db-stress"], {"partitions": wrong})


@pytest.mark.parametrize(
    ("name", "option", "least", "most"), [("batch-get", "batch", 1, 100), ("result-cache", "updates_percent", 0, 100)]
)
def test_a_number_is_anything_the_load_client_takes(name, option, least, most):
    for value in (least, 3, most):
        check_options(WORKLOADS[name], {option: str(value)})
    for wrong in (least - 1, most + 1, "1.5"):
        with pytest.raises(ValueError, match=f"{option} = '{wrong}' of '{name}': give {least} to {most}"):
            check_options(WORKLOADS[name], {option: str(wrong)})


def test_what_a_store_lacks_is_named():
    assert missing_operations(WORKLOADS["point-update"], {"get", "add"}) == ["sum"]
    assert missing_operations(WORKLOADS["point-get"], {"get", "add"}) == []


def test_an_option_may_need_more_of_a_store():
    whole, parted = (WORKLOADS["db-stress"].given({"partitions": count}) for count in ("1", "16"))
    assert missing_operations(whole, {"sql", "transaction"}) == []
    assert missing_operations(parted, {"sql", "transaction"}) == ["partition"]


def test_a_variant_is_a_name_and_its_options():
    assert variants(["batch-get?access=uniform"], {"batch": ["1", "10"]}) == [
        "batch-get?access=uniform&batch=1",
        "batch-get?access=uniform&batch=10",
    ]
    assert split_variant("batch-get?access=uniform&batch=10") == ("batch-get", {"access": "uniform", "batch": "10"})
    assert find_workload("batch-get?batch=10").name == "batch-get"
    with pytest.raises(ValueError, match=r"batch-get\?batch=10"):
        split_variant("batch-get?10")


@pytest.mark.parametrize("name", ["point-get", "point-update", "game"])
def test_how_large_rows_are_is_what_the_generators_make(name):
    tables = make_workload(name, 20_000, {}).tables
    made = sum(len(table.encode(table.generate(key, 0))) for table in tables for key in range(1, 20_001, 100)) / 200
    assert made == pytest.approx(WORKLOADS[name].row_bytes, rel=0.02)
