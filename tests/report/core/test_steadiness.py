"""That a trial has no steady state is a result, and is printed as one."""

import pytest

from dbdyno.report.core.steadiness import drift, remarks, steady_class
from dbdyno.stats.steady_state import NO_STEADY_STATE, TOO_SHORT


def trial(kind="flat", seconds=600, **changes):
    steady = {"class": kind, "steady": kind == "flat", "cut_s": 0, "applied": False, "drift": -0.02}
    steady |= {"drift_per_hour": -0.12} | changes
    known = {"trial": "1", "system": "a", "label": "a", "pipeline": 1, "clients": 4, "rate": None, "repeat": 1}
    return known | {"seconds": seconds, "steady_state": steady}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (trial(), "-12.0% an hour"),
        (trial(seconds=60), "-2.0% in 60 s"),
        (trial(seconds=320, cut_s=40), "-2.0% in the last 280 s"),
        (trial(seconds=320, cut_s=40, applied=True), "-12.0% an hour"),
        (trial(TOO_SHORT, drift=None), ""),
    ],
)
def test_drift_is_per_hour_where_the_part_is_long_enough(given, said):
    assert drift(given) == said


def test_the_class_stands_before_its_drift():
    assert steady_class(trial("drifting")) == "drifting, -12.0% an hour"
    assert steady_class(trial(TOO_SHORT, drift=None)) == TOO_SHORT


def test_trials_without_a_steady_state_are_named_and_short_ones_are_one_line():
    assert list(remarks([trial()])) == []
    assert list(remarks([trial(TOO_SHORT, 20, drift=None)] * 2)) == [
        "Trials under 30 s are too short to show a steady state."
    ]
    (said,) = remarks([trial(), trial("drifting"), trial(NO_STEADY_STATE, drift=None)])
    assert said == (
        "No steady state in 2 of 3 trials, so their means depend on their length: "
        "a, 4 clients (drifting, -12.0% an hour); a, 4 clients."
    )
    (many,) = remarks([trial("drifting")] * 9)
    assert many.endswith("; and 5 more.")
