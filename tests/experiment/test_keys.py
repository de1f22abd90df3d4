"""Single keys are read from what a person may write."""

from types import SimpleNamespace

import pytest

from dbdyno.experiment.keys import (
    MOST_CLIENTS,
    check_client_counts,
    check_pipeline,
    read_client_counts,
    read_limit,
    read_percent,
    read_restart,
)


def test_a_sweep_of_clients_doubles_up_to_its_end():
    assert read_client_counts("1..8") == [1, 2, 4, 8] and read_client_counts(" 3 .. 13 ") == [3, 6, 12, 13]
    assert read_client_counts("1..")[-1] == MOST_CLIENTS
    assert read_client_counts(4) == [4] and read_client_counts([2, 1]) == [2, 1]
    with pytest.raises(ValueError, match="a sweep rises"):
        read_client_counts("8..8")


@pytest.mark.parametrize("check", [check_client_counts, check_pipeline])
def test_numbers_are_at_least_one_and_given_once(check):
    assert check([1, 8]) == [1, 8]
    for wrong in ([], [0], [2, 2]):
        with pytest.raises(ValueError):
            check(wrong)


def test_a_list_of_restarts_has_a_word_for_none():
    assert read_restart("none") is None and read_restart("cold") == "cold"


def test_a_limit_is_text():
    assert str(read_limit("p99 < 10ms")) == "p99 < 10ms"
    with pytest.raises(ValueError, match="a limit is text"):
        read_limit(10)


@pytest.mark.parametrize(
    ("key", "text", "why"),
    [
        ("precise", 1, "a percentage is text"),
        ("precise", "0%", "no number of trials"),
        ("until_flat", "0%", "no measured curve is flat"),
        ("until_flat", "60%", "at most 50%"),
    ],
)
def test_a_percentage_that_its_key_cannot_have(key, text, why):
    with pytest.raises(ValueError, match=why):
        read_percent(text, SimpleNamespace(field_name=key))


def test_a_percentage_is_a_share():
    assert read_percent("3%", SimpleNamespace(field_name="precise")) == 0.03
