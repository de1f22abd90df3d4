"""Limits are judged in every trial that ran to its end, from what was recorded of it."""

import json
from dataclasses import replace

import pytest

from dbdyno.conduct.limits import judge_bound
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.experiment.limits import read_limits
from dbdyno.results.model import Sums
from dbdyno.results.read import read_run
from helpers import experiment
from synthetic_run import SYSTEMS, write_run


@pytest.fixture
def ended(fake_load, fake_system, tmp_path):
    """Run the fake system; returns how the run ended and its `run.json`."""

    def run(behaviour=None, **keys):
        fake_load(**(behaviour or {}))
        end = conduct(experiment(**keys), "", tmp_path, Listener())
        return end, json.loads((end.folder / "run.json").read_text())

    return run


def test_every_trial_is_judged_by_every_limit(ended):
    end, document = ended(limits={"throughput": "> 1500/s", "max": "< 1s"})
    outcomes = [(limit["trial"], limit["limit"], limit["holds"]) for limit in document["limits"]]
    assert end.state == "complete"
    assert outcomes == [
        ("001-fake-game-c1", "throughput > 1500/s", False),
        ("001-fake-game-c1", "max < 1s", True),
        ("002-fake-game-c2", "throughput > 1500/s", True),
        ("002-fake-game-c2", "max < 1s", True),
    ]
    assert document["limits"][0]["value"] == 1000


def test_a_run_without_limits_says_nothing_of_them(ended):
    assert "limits" not in ended()[1]


def test_a_limit_on_errors_decides_how_many_may_fail(ended):
    assert ended({"errors": 2})[0].state == "failed"
    end, document = ended({"errors": 2}, limits={"errors": "< 50%"})
    assert end.state == "complete" and {limit["holds"] for limit in document["limits"]} == {True}
    end, document = ended({"errors": 2}, limits={"errors": 0})
    assert end.state == "complete" and {limit["holds"] for limit in document["limits"]} == {False}
    assert document["limits"][0]["value"] > 0


def test_a_trial_that_failed_is_not_judged(ended):
    end, document = ended({"die": "run"}, limits={"max": "< 1s"})
    assert end.state == "failed" and "limits" not in document


@pytest.fixture
def recorded(tmp_path):
    (trial,) = read_run(write_run(tmp_path / "run", SYSTEMS[:1], clients=(1,), seconds=3)).trials
    return trial.recorded


def judged(recorded, key, value):
    (bound,) = read_limits({key: value})
    return judge_bound(bound, recorded)


@pytest.mark.parametrize("key", ["p50", "p99", "mean", "max"])
def test_a_time_is_below_its_limit_or_not(recorded, key):
    value_us = judged(recorded, key, "< 3600s")["value"]
    assert value_us > 0
    assert judged(recorded, key, f"< {value_us + 1:.3f}us")["holds"]
    assert not judged(recorded, key, f"< {value_us - 1:.3f}us")["holds"]


def test_too_few_transactions_are_judged_by_their_maximum(recorded):
    judgement = judged(recorded, "p99.999", "< 3600s")
    assert (judgement["figure"], judgement["holds"]) == ("max", True)


def test_an_open_loop_is_judged_by_response_times(recorded):
    slower = replace(recorded.service_time, max_ns=5_000_000_000)
    judgement = judged(replace(recorded, response_time=slower), "max", "< 4s")
    assert (judgement["value"], judgement["holds"]) == (5e6, False)


def test_what_was_not_measured_holds_no_limit(recorded):
    none = replace(
        recorded, intervals=(), sums=Sums(), service_time=replace(recorded.service_time, count=0), response_time=None
    )
    for key, value in (("p99", "< 1s"), ("throughput", "> 0/s"), ("errors", "< 1%")):
        judgement = judged(none, key, value)
        assert (judgement["value"], judgement["holds"]) == (None, False)
