"""A rate search, each step a trial of the fake load client on a store that is a queue."""

import json

import pytest

from dbdyno.conduct.find_rate import conclude, judge_step
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.rate_search import SearchResult
from dbdyno.conduct.run import conduct
from dbdyno.experiment.limit import parse_limit
from dbdyno.results.read import read_run
from helpers import experiment


class Steps(Listener):
    """Remembers the steps and what was found."""

    def __init__(self):
        self.steps, self.sentences = [], []

    def step_ended(self, step):
        self.steps.append(step)

    def search_ended(self, sentence):
        self.sentences.append(sentence)


@pytest.fixture
def searched(fake_load, fake_system, tmp_path):
    """Search on the fake system; returns how the run ended, its listener and its `run.json`."""

    def run(behaviour=None, **keys):
        fake_load(**({"capacity_per_s": 1000} | (behaviour or {})))
        listener = Steps()
        named = experiment(**({"find_rate": "p99 < 10ms", "clients": [1], "seconds": 4} | keys))
        end = conduct(named, "", tmp_path, listener)
        return end, listener, json.loads((end.folder / "run.json").read_text())

    return run


def test_the_highest_rate_is_found_and_recorded(searched):
    end, listener, document = searched()
    (search,) = document["find_rate"]
    # 1 ms / (1 - rate / 1000) reaches 10 ms at 900/s.
    assert end.state == "complete" and 855 <= search["found_rate_per_s"] <= 900
    assert listener.sentences == [search["sentence"]]
    assert search["sentence"].startswith(f"fake, game, 1 client: {search['found_rate_per_s']}/s is the highest rate")
    assert [step["trial"] for step in search["steps"]] == document["trials"][1:]
    assert document["trials"][0] == "001-fake-game-c1"
    trials = read_run(end.folder).trials
    assert {trial.state for trial in trials} == {"complete"}
    assert trials[0].about["seconds"] == 3 and trials[1].about["seconds"] == 4
    assert trials[1].about["rate"]["per_s"] == search["steps"][0]["rate_per_s"]


def test_each_number_of_clients_of_each_system_is_searched(searched):
    _, listener, document = searched(system=["fake", {"system": "fake", "label": "other"}], clients=[1, 2])
    searches = [(search["system"], search["clients"]) for search in document["find_rate"]]
    assert searches == [("fake", 1), ("fake", 2), ("other", 1), ("other", 2)]
    assert len(listener.sentences) == 4


def test_a_limit_nobody_holds_is_a_result(searched):
    end, listener, document = searched(find_rate="mean < 0.5ms")
    assert end.state == "complete"
    assert document["find_rate"][0]["found_rate_per_s"] is None
    assert "no rate holds mean < 500us, not even" in listener.sentences[0]


def test_a_server_that_dies_ends_the_search_and_fails_the_run(searched, fake_system):
    fake_system.deaths.append("fake was killed by SIGKILL")
    end, listener, document = searched()
    assert end.state == "failed"
    assert "ended without an answer" in listener.sentences[0]
    assert document["find_rate"][0]["found_rate_per_s"] is None


class Recorded:
    """The figure that a step is judged by."""

    def __init__(self, response_time, followed=True):
        self.response_time, self.followed = response_time, followed
        self.behind = None if followed else "only 90.0% of the offered load was completed"
        self.offered_per_s, self.throughput_per_s = 100.0, 100.0 if followed else 90.0


class Times:
    """Response times of which percentiles are known or not."""

    def __init__(self, percentile_ms, max_ms):
        self.count, self.mean_ns, self.max_ns = 100, 1e6, int(max_ms * 1e6)
        self._percentile_ms = percentile_ms

    def percentile_ns(self, percent):
        return None if self._percentile_ms is None else self._percentile_ms * 1e6


@pytest.mark.parametrize(
    ("limit", "recorded", "statistic", "why_not"),
    [
        ("p99 < 10ms", Recorded(Times(9.9, 50)), "p99", None),
        ("p99 < 10ms", Recorded(Times(10, 50)), "p99", "not below the limit"),
        ("p99 < 10ms", Recorded(Times(None, 9)), "max", None),
        ("p99 < 10ms", Recorded(Times(None, 11)), "max", "not below the limit (too few transactions to tell p99)"),
        ("max < 10ms", Recorded(Times(1, 11)), "max", "not below the limit"),
        ("mean < 2ms", Recorded(Times(99, 99)), "mean", None),
        (
            "p99 < 10ms",
            Recorded(Times(1, 1), followed=False),
            "p99",
            "90/s achieved; only 90.0% of the offered load was completed",
        ),
        ("p99 < 10ms", Recorded(None), "p99", "no transaction was completed"),
    ],
)
def test_judging_a_step(limit, recorded, statistic, why_not):
    step = judge_step("001", 100, False, parse_limit(limit), recorded)
    assert (step["statistic"], step["why_not"], step["holds"]) == (statistic, why_not, why_not is None)


def test_a_rate_with_nothing_above_it_is_said_to_be_a_lower_bound():
    said = conclude("redis", parse_limit("p99 < 10ms"), SearchResult(16_000, open_above=True), [])
    assert "up to 16,000/s. The highest rate is above that" in said


def steps_of(*tries):
    return [{"rate_per_s": rate, "holds": held} for rate, held in tries]


def test_both_ends_of_the_answer_stand_in_the_sentence_with_their_tries():
    limit = parse_limit("p99 < 10ms")
    tried = steps_of(
        (100, True), *[(100, True)] * 3, (105, False), (105, True), (105, False), (110, False), (110, False)
    )
    said = conclude("redis", limit, SearchResult(100, 110), tried)
    assert said == (
        "redis: 100/s is the highest rate with p99 < 10ms (held in 4 of 4 tries). 110/s fails (held in 0 of 2 tries). "
        "Between them the tries differ (105/s)."
    )
    noisy = conclude("redis", limit, SearchResult(100, None), tried)
    assert noisy.endswith("(held in 4 of 4 tries). Higher rates held in some tries only: the answer is noisy.")
