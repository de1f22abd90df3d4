"""Lengths of time on the command line."""

import click
import pytest

from dbdyno.cli.duration import DURATION


def test_seconds_minutes_and_hours():
    assert [DURATION.convert(text, None, None) for text in ("90s", "20m", "2h", 5.0)] == [90.0, 1200.0, 7200.0, 5.0]


@pytest.mark.parametrize("text", ["", "20", "0m", "-1m", "1.5h", "m", "20 m", "99999999h", "1d"])
def test_what_is_none_is_refused(text):
    with pytest.raises(click.BadParameter, match="is not a duration; give 90s, 20m or 2h"):
        DURATION.convert(text, None, None)
