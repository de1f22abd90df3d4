"""Open loops at shares of what the closed loops before them measured, each system's its own."""

import pytest

from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.report.document import document
from dbdyno.results.read import read_run
from dbdyno.results.usable import compared_rate_per_s
from helpers import experiment

QUIET = {"ceiling": False, "host": False, "observe": False}


@pytest.fixture
def run(fake_load, fake_system, tmp_path):
    """Run on the fake load client, whose closed loops do 1000 a client and at most `most_per_s`; returns the run."""

    def conducted(behaviour, **keys):
        fake_load(second_s=0, **behaviour)
        return read_run(conduct(experiment(**(QUIET | keys)), "", tmp_path, Listener()).folder)

    return conducted


def rates(run):
    return [trial.about["rate"] for trial in run.trials if trial.about["rate"]]


def test_the_rate_is_a_share_of_the_best_closed_loop_with_its_clients(run):
    recorded_run = run({"most_per_s": 2000}, clients=[1, 2, 4], rate=["50%", "90%"])
    assert recorded_run.about["state"] == "complete"
    assert [trial.name[4:] for trial in recorded_run.trials[3:]] == ["fake-game-r50pct", "fake-game-r90pct"]
    half, most = rates(recorded_run)
    assert (half["per_s"], half["share"], half["capacity_per_s"]) == (1000, 0.5, 2000)
    assert half["capacity_of"] == "002-fake-game-c2" and most["words"] == "1,800/s (90% of capacity)"
    assert {trial.about["clients"] for trial in recorded_run.trials[3:]} == {2}
    assert document(recorded_run)["trials"][3]["rate"]["per_s"] == 1000


def test_every_repetition_is_offered_the_same_after_all_closed_loops(run):
    recorded_run = run(
        {}, clients=[1, 2], rate=["50%"], repeat=3, system=["fake", {"system": "fake", "label": "other"}]
    )
    assert [bool(trial.about["rate"]) for trial in recorded_run.trials] == [False] * 12 + [True] * 6
    assert {rate["per_s"] for rate in rates(recorded_run)} == {1000}
    labels = {rate["capacity_of"]: trial.label for trial in recorded_run.trials if (rate := trial.about["rate"])}
    assert {of.split("-")[1]: label for of, label in labels.items()} == {"fake": "fake", "other": "other"}


def test_without_a_closed_loop_that_can_be_used_there_is_no_capacity(run):
    recorded_run = run({"errors": 1}, clients=[1], rate=["50%"])
    (trial,) = (trial for trial in recorded_run.trials if trial.about["rate"])
    assert trial.state == "failed" and "no usable closed loop came before it" in trial.reason
    assert (trial.about["rate"]["per_s"], trial.about["rate"]["words"]) == (None, "50% of capacity")


def test_on_stores_each_is_offered_its_own(tmp_path):
    keys = {"workload": "point-get", "system": ["sqlite", "lmdb"], "clients": [1, 2], "rate": ["20%"], "seconds": 1}
    recorded_run = read_run(conduct(experiment(**(QUIET | keys | {"rows": 100})), "", tmp_path, Listener()).folder)
    assert recorded_run.about["state"] == "complete"
    for label in ("sqlite", "lmdb"):
        *closed, opened = (trial for trial in recorded_run.trials if trial.label == label)
        best = max(closed, key=compared_rate_per_s)
        rate = opened.about["rate"]
        assert (rate["capacity_of"], opened.about["clients"]) == (best.name, best.about["clients"])
        assert rate["per_s"] == pytest.approx(0.2 * compared_rate_per_s(best), rel=0.01)
        assert opened.recorded.response_time.count > 0
