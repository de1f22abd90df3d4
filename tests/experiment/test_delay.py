"""Delays are whole microseconds, or text with its unit; each once."""

import pytest

from dbdyno.experiment.delay import MAX_US, read_delays


def test_what_is_accepted():
    assert read_delays([0, "200us", "1ms", "5 µs"]) == [0, 200, 1000, 5]
    assert read_delays("1ms") == [1000]
    assert read_delays(MAX_US) == [MAX_US]


@pytest.mark.parametrize(
    "value", [[], [1, 1], ["1ms", 1000], -1, MAX_US + 1, 1.5, True, "1", "1s", "fast", None], ids=str
)
def test_what_is_not(value):
    with pytest.raises(ValueError, match="delay"):
        read_delays(value)
