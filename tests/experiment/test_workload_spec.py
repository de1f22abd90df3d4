"""A workload's needs are held against what a store can do, and its options against what it takes."""

import pytest

from dbdyno.experiment.workload_spec import check_options, missing_operations, parse_workload, variants
from dbdyno.experiment.workloads import Kind


def spec(text, **common):
    return parse_workload(text, {}, common)


def test_an_unknown_workload_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"did you mean 'game'.*point-get"):
        spec("gaem")


def test_options_are_checked():
    check_options(spec("game", access="sequential"))
    with pytest.raises(ValueError, match="uniform, sequential"):
        check_options(spec("game?access=random"))
    with pytest.raises(ValueError, match="no option 'acces'"):
        check_options(spec("game", acces="uniform"))
    check_options(spec("db-stress?rw=0&partitions=16"))
    with pytest.raises(ValueError, match="has no line breaks and no control characters"):
        check_options(spec("game", access="\x1b[31m"))
    for wrong in ("0", "1025", "-1", "some", "9" * 100):
        with pytest.raises(ValueError, match=f"partitions = '{wrong}' of 'db-stress': give 1 to 1024"):
            check_options(spec("db-stress", partitions=wrong))


@pytest.mark.parametrize(
    ("name", "option", "least", "most"),
    [
        ("batch-get", "batch", 1, 100),
        ("result-cache", "updates_percent", 0, 100),
        ("result-cache", "rows_per_result", 1, 10_000),
    ],
)
def test_a_number_is_anything_the_load_client_takes(name, option, least, most):
    for value in (least, 3, most):
        check_options(spec(name, **{option: str(value)}))
    for wrong in (least - 1, most + 1, "1.5"):
        with pytest.raises(ValueError, match=f"{option} = '{wrong}' of '{name}': give {least} to {most}"):
            check_options(spec(name, **{option: str(wrong)}))


def test_what_a_store_lacks_is_named():
    assert missing_operations(spec("point-update"), {"get", "add"}) == ["sum"]
    assert missing_operations(spec("point-get"), {"get", "add"}) == []


def test_an_option_may_need_more_of_a_store():
    assert missing_operations(spec("db-stress", partitions="1"), {"sql", "transaction"}) == []
    assert missing_operations(spec("db-stress", partitions="16"), {"sql", "transaction"}) == ["partition"]
    assert missing_operations(spec("db-stress?partitions=16"), {"sql", "transaction"}) == ["partition"]


def test_a_variant_is_a_name_and_its_options():
    assert variants(["batch-get?access=uniform"], {"batch": ["1", "10"]}) == [
        "batch-get?access=uniform&batch=1",
        "batch-get?access=uniform&batch=10",
    ]
    with pytest.raises(ValueError, match=r"batch-get\?batch=10"):
        spec("batch-get?10")


def test_a_variant_is_written_as_it_is_read_and_overrides_the_common_options():
    text = "batch-get?access=uniform&batch=10"
    made = spec(text, batch="1")
    assert (str(made), made.name, made.options) == (text, "batch-get", {"access": "uniform", "batch": "10"})
    assert (str(spec("game?")), spec("game").kind) == ("game", Kind.LOAD)
    assert hash(made) == hash(spec(text)) and made != spec(text)


def test_an_option_that_is_not_given_has_its_default():
    assert (spec("dump-restore").option("tool"), spec("dump-restore").option("workers")) == ("sql", "1")
    assert (spec("dump-restore?workers=4", tool="files").option("tool"), spec("sysbench").option("script")) == (
        "files",
        "",
    )
