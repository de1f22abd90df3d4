"""Percentages have their sign."""

import pytest

from dbdyno.experiment.percent import parse_percent


def test_percentages_become_shares():
    assert [parse_percent(text) for text in ("2%", " 0.5 % ", "0%")] == [0.02, 0.005, 0.0]


@pytest.mark.parametrize("text", ["2", "0.02", "-1%", "100%", "%", "two%", "nan%"])
def test_what_is_none_is_refused(text):
    with pytest.raises(ValueError, match="is not a percentage"):
        parse_percent(text)
