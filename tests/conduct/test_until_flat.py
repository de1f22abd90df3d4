"""A sweep ends where its curve is flat; what is left out is in the journal, and said; nothing else is left out."""

import json

import pytest

from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.report.core.words import not_complete
from dbdyno.report.document import document
from dbdyno.results.read import read_run
from dbdyno.stats.flatness import flatness
from helpers import experiment

CLIENTS = [1, 2, 4, 8, 16, 32]


class LeftOut(Listener):
    """Remembers the steps that were left out."""

    def __init__(self):
        self.said = []

    def steps_are_left_out(self, trials, sentence):
        self.said.append((trials, sentence))


@pytest.fixture
def run(fake_load, fake_system, tmp_path):
    """Run a sweep; returns what was said, and the run's folder."""

    def conducted(behaviour, **keys):
        fake_load(second_s=0, **behaviour)
        listener = LeftOut()
        base = {"clients": CLIENTS, "until_flat": "3%", "ceiling": False, "host": False}
        end = conduct(experiment(**(base | keys)), "", tmp_path, listener)
        return listener.said, end.folder

    return conducted


def clients_of(folder):
    return [trial.about["clients"] for trial in read_run(folder).trials]


def test_further_steps_are_left_out_and_named(run):
    said, folder = run({"most_per_s": 4000})
    assert clients_of(folder) == [1, 2, 4, 8, 16]
    ((trials, sentence),) = said
    assert trials == 1
    assert "not run with 32 clients: the curve is flat. 8 and 16 clients changed throughput by +0.0%" in sentence
    written = json.loads((folder / "run.json").read_text())
    assert written["state"] == "complete" and written["left_out"][0]["clients"] == [32]
    json_document = document(read_run(folder))
    assert json_document["left_out"] == written["left_out"]
    assert not_complete(json_document) == [("fake, game", written["left_out"][0]["reason"])]


def test_each_sweep_ends_by_itself(run):
    said, folder = run({"most_per_s": 4000}, workload=["game", "point-get"])
    assert clients_of(folder) == [1, 2, 4, 8, 16] * 2 and len(said) == 2


def test_a_curve_that_rises_is_run_to_its_end(run):
    said, folder = run({})
    assert said == [] and clients_of(folder) == CLIENTS


def test_a_sweep_without_an_end_that_is_never_flat_ends_and_says_so(run):
    said, folder = run({}, clients="512..", workload=["game", "point-get"])
    assert clients_of(folder) == [512, 1024] * 2
    assert [trials for trials, _ in said] == [0, 0]
    assert "fake, game: not flat to within 3 % beyond noise by 1,024 clients, its last step" in said[0][1]
    assert not_complete(document(read_run(folder)))[0][1].startswith("not flat to within 3 %")


def test_without_it_nothing_is_left_out(run):
    said, folder = run({"most_per_s": 1000}, until_flat=None)
    assert said == [] and clients_of(folder) == CLIENTS


def test_steps_that_fail_are_none(run):
    said, folder = run({"most_per_s": 1000, "errors": 1})
    assert said == [] and clients_of(folder) == CLIENTS


def test_on_a_store_what_was_run_is_what_the_rule_says_of_its_recordings(tmp_path):
    clients = [1, 2, 3, 4, 6, 8]
    keys = {"workload": "insert-indexes", "system": "sqlite", "clients": clients, "until_flat": "50%"}
    keys |= {"seconds": 1, "warmup_seconds": 0, "ceiling": False, "host": False, "observe": False}
    end = conduct(experiment(**keys), "", tmp_path, LeftOut())
    run = read_run(end.folder)
    left_out = [step["clients"] for step in run.about.get("left_out", [])]
    assert (
        end.state == "complete"
        and clients_of(end.folder) + [clients_left for step in left_out for clients_left in step] == clients
    )
    rates = [[second.completed / second.seconds for second in trial.recorded.whole_seconds] for trial in run.trials]
    ends = [bool(flatness(rates[: step + 1], 0.5)) for step in range(len(rates))]
    assert not any(ends[:-1]) and (ends[-1] or not left_out)
