"""When `--profile` records stacks, as the command line says it."""

import pytest

from dbdyno.cli.profile import apart, parse_profile
from dbdyno.errors import UserError


def test_alone_it_is_after_each_trial():
    assert parse_profile("after") is True
    assert parse_profile("on-stall") == "on-stall"
    with pytest.raises(UserError, match="--profile now: give --profile alone, or --profile on-stall"):
        parse_profile("now")


def test_an_experiment_behind_it_is_no_value_of_it():
    assert apart(None, "quickstart") == ("quickstart", "after")
    assert apart("quickstart", "on-stall") == ("quickstart", "on-stall")
    assert apart("quickstart", "game") == ("quickstart", "game")
    assert apart(None, None) == (None, None)
    assert apart(None, "on-stall") == (None, "on-stall")
