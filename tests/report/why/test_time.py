"""The time of a transaction, by the bands of the time budget."""

import json

import pytest

from dbdyno.report.why.time import time_bands
from dbdyno.results.conclusions import VERDICT_FORMAT
from report.why.conftest import conclude


def _budget(commit):
    def put(label, folder, trial):
        held = commit if label == "slow" else 0.4
        bands = {"server_cpu": 1.0, "commit": held, "unexplained": 3.0 - held}
        budget = {"in_flight": 4.0, "bands": bands, "per_second": {}, "not_seen": []}
        document = {"format": VERDICT_FORMAT, "client_limited": None, "time_budget": budget, "verdict": None}
        (folder / "verdict.json").write_text(json.dumps(document))

    return put


def test_the_band_that_became_wider_is_named_with_its_share_of_the_difference(pairs):
    given = pairs(_budget(2.5))
    first, *_ = sorted(time_bands(given), key=lambda band: -(band.share or 0))
    assert (first.kind, first.name) == ("time", "commit")
    fast, slow = (sum(1e6 / trial.recorded.throughput_per_s for trial in given.side(which)) / 4 for which in (0, 1))
    assert first.share == pytest.approx(min(1.0, (2.5 * slow - 0.4 * fast) / given.time_us))
    assert first.before.endswith("µs") and first.after.endswith("ms")


@pytest.mark.parametrize(("limit", "share"), [("server-thread", 1.0), ("host-cpu", 0.5), ("commit", 0.25)])
def test_full_processors_explain_the_queue_before_them(pairs, limit, share):
    def put(label, folder, trial):
        conclude(folder, limit, client_cpu=1.0, server_cpu=1.0, server_cpu_wait=2.0)

    by_band = {band.name: band for band in time_bands(pairs(put))}
    assert by_band["server cpu"].share == pytest.approx(share, abs=0.01)
    assert ("queue" in by_band["server cpu"].note) == (limit != "commit")


def test_what_no_observation_explains_says_so(pairs):
    by_band = {band.name: band for band in time_bands(pairs(_budget(0.4)))}
    assert "no observation" in by_band["unexplained"].note and by_band["unexplained"].share > 0.5


def test_trials_without_a_budget_have_none(pairs):
    def put(label, folder, trial):
        document = {"format": VERDICT_FORMAT, "client_limited": None, "time_budget": None, "verdict": None}
        (folder / "verdict.json").write_text(json.dumps(document))

    assert time_bands(pairs(put)) == []
