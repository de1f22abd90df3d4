"""A rate is one number, a ramp or steps, and what it cannot be is refused with words."""

import pytest

from dbdyno.experiment.rate import read_rates


def rate_of(value):
    (rate,) = read_rates(value)
    return rate


@pytest.mark.parametrize(
    "value",
    [20_000, 0.5, {"ramp": [1000, 20_000], "seconds": 10}, {"steps": [1000, 2000, 4000], "seconds": 5}],
    ids=str,
)
def test_what_is_written_back_is_what_was_read(value):
    assert rate_of(value).as_written() == value


def test_a_list_is_a_rate_for_each():
    assert [rate.slug for rate in read_rates([1000, 1234567, 0.5])] == ["r1000", "r1234567", "r0.5"]
    assert rate_of({"ramp": [1000, 20_000], "seconds": 10}).slug == "ramp1000-20000"


def test_a_constant_rate_is_held_from_the_first_second_on():
    assert rate_of(20_000).segments(warmup_s=2) == [{"seconds": 1, "from_per_s": 20_000, "to_per_s": 20_000}]


def test_a_shape_begins_after_the_warm_up_which_has_its_first_rate():
    assert rate_of({"ramp": [10, 50], "seconds": 4}).segments(warmup_s=2) == [
        {"seconds": 2, "from_per_s": 10, "to_per_s": 10},
        {"seconds": 4, "from_per_s": 10, "to_per_s": 50},
    ]
    steps = rate_of({"steps": [10, 50], "seconds": 4})
    assert [segment["to_per_s"] for segment in steps.segments(warmup_s=0)] == [10, 50]
    assert steps.length_s == 8


def test_a_share_is_a_rate_once_its_capacity_is_known():
    share = rate_of("50%")
    assert (share.share, share.per_s, share.as_written(), share.slug) == (0.5, (), "50%", "r50pct")
    assert share.words == "50% of capacity"
    known = share.of_capacity(24_690.0, "003-fake-game-c4")
    assert (known.per_s, known.capacity_of, known.words) == (
        (12_300,),
        "003-fake-game-c4",
        "12,300/s (50% of capacity)",
    )
    assert known.as_written() == "50%" and known.slug == "r50pct"


def test_words():
    assert rate_of(20_000).words == "20,000/s"
    assert rate_of({"ramp": [10, 5000], "seconds": 4}).words == "10/s to 5,000/s in 4 s"
    assert rate_of({"steps": [10, 20], "seconds": 4}).words == "10/s, 20/s, 4 s each"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "above 0"),
        (-5, "above 0"),
        (float("nan"), "above 0"),
        (float("inf"), "above 0"),
        (10_000_001, "at most 10,000,000 per second"),
        (True, "is not a rate"),
        ("fast", "is not a rate"),
        ([], "at least one rate"),
        ([5, 5], "each once"),
        (["50%", "50 %"], "each once"),
        ("0%", "above 0% and at most 100%"),
        (["50%", "120%"], "'120%': a share of capacity"),
        ("-5%", "is not a rate"),
        (["50%", 1000], "or rates per second, not both"),
        ({"ramp": [1, 2]}, "a rate is a number"),
        ({"ramp": [1, 2], "steps": [1, 2], "seconds": 1}, "a rate is a number"),
        ({"ramp": [1, 2, 3], "seconds": 1}, "first and the last"),
        ({"steps": [1], "seconds": 1}, "two rates or more"),
        ({"steps": [1, 0], "seconds": 1}, "above 0"),
        ({"ramp": [1, 2], "seconds": 0}, "whole seconds"),
        ({"ramp": [1, 2], "seconds": 1.5}, "whole seconds"),
    ],
    ids=str,
)
def test_what_is_no_rate_is_refused(value, said):
    with pytest.raises(ValueError, match=said):
        read_rates(value)
