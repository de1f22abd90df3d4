"""A think time is constant or exponential, in microseconds or with a unit."""

import pytest
from pydantic import ValidationError

from dbdyno.experiment.think_time import ThinkTime


@pytest.mark.parametrize(
    ("written", "kind", "mean_us", "words"),
    [
        (500, "constant", 500, "500 µs"),
        ("2ms", "constant", 2000, "2,000 µs"),
        ("1 s", "constant", 1_000_000, "1,000,000 µs"),
        ({"kind": "exponential", "mean": "2ms"}, "exponential", 2000, "exponential, 2,000 µs on average"),
    ],
)
def test_it_is_read_written_and_planned(written, kind, mean_us, words):
    time = ThinkTime.model_validate(written)
    assert (time.document(), time.words) == ({"kind": kind, "mean_us": mean_us}, words)
    assert ThinkTime.model_validate(time.model_dump()) == time


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (0, "from 1 to 60,000,000"),
        ("2 minutes", "is not a time"),
        (True, "is not a time"),
        (1.5, "is not a time"),
        ({"kind": "even", "mean": 5}, "'constant' or 'exponential'"),
        ({"kind": "constant"}, "Field required"),
    ],
)
def test_what_is_no_pause_is_refused(written, said):
    with pytest.raises(ValidationError, match=said):
        ThinkTime.model_validate(written)
