"""A percentage has its sign."""

import click
import pytest

from dbdyno.cli.percent import PERCENT


@pytest.mark.parametrize(("text", "share"), [("2%", 0.02), ("0.5 %", 0.005), ("0%", 0.0)])
def test_it_is_a_share(text, share):
    assert PERCENT.convert(text, None, None) == pytest.approx(share)
    assert PERCENT.convert(share, None, None) == share


@pytest.mark.parametrize("text", ["2", "0.02", "", "%", "x%", "-1%", "100%", "nan%"])
def test_what_is_none_is_refused(text):
    with pytest.raises(click.BadParameter, match="give one such as 2%"):
        PERCENT.convert(text, None, None)
