"""Counts that do not add up are said; others are not."""

import json
import re

import pytest

from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

REDIS = SYSTEMS[4]


def warnings_after(tmp_path, change, trial_change=lambda about: None):
    """Write a trial of 4 clients and 3 s, change every record with `change`, and read its warnings."""
    folder = write_run(tmp_path / "run", (REDIS,), clients=(4,), seconds=3)
    (path,) = folder.glob("trials/*/records.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        change(record)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    about = json.loads(path.with_name("trial.json").read_text())
    trial_change(about)
    path.with_name("trial.json").write_text(json.dumps(about))
    (trial,) = read_run(folder).trials
    return " ".join(trial.warnings)


def test_a_sound_trial_has_no_warning(tmp_path):
    assert warnings_after(tmp_path, lambda record: None) == ""


def in_total(change):
    return lambda record: change(record) if record["record"] == "total" else None


def in_interval(change):
    return lambda record: change(record) if record["record"] == "interval" else None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (in_total(lambda total: total["transactions"].update(scheduled=1)), "1 transactions were begun"),
        (in_total(lambda total: total["transactions"].update(failed=3, unfinished=1)), "0 transactions failed"),
        (in_total(lambda total: total.update(reads_verified=5)), "reads_verified, the total says 5"),
        (in_total(lambda total: total["operations"]["read_player"].update(completed=9)), "read_player completed"),
        (in_interval(lambda interval: interval.update(client_cpu_s=1.9)), "limited by the client: its load threads"),
        (
            in_interval(lambda interval: interval["transactions"].update(scheduled=1)),
            "add up to 4 arrivals",
        ),
        (
            lambda record: record.update(profile="debug") if record["record"] == "hello" else None,
            "debug build",
        ),
    ],
)
def test_each_identity_that_fails_is_said(tmp_path, change, said):
    assert said in warnings_after(tmp_path, change)


def test_littles_law(tmp_path):
    said = warnings_after(tmp_path, lambda record: None, lambda about: about.update(clients=5))
    assert "3.98 transactions were in flight on average, not 5" in said


def test_littles_law_counts_what_is_pipelined(tmp_path):
    said = warnings_after(tmp_path, lambda record: None, lambda about: about.update(pipeline=16))
    assert "3.98 transactions were in flight on average, not 64" in said


def test_littles_law_is_silent_where_errors_kept_clients_waiting(tmp_path):
    fail = in_interval(lambda interval: interval.update(errors={"timeout": 1}))
    assert warnings_after(tmp_path, fail, lambda about: about.update(clients=5)) == ""


def test_a_short_trial_is_said(tmp_path):
    said = warnings_after(tmp_path, lambda record: None, lambda about: about.update(seconds=10))
    assert "measured for 3.0 of 10 s" in said


def open_loop(tmp_path, rate):
    (trial,) = read_run(write_run(tmp_path / "run", (REDIS,), (4,), 12, rates=(rate,))).trials
    return trial


def test_an_open_loop_that_is_followed_has_no_warning(tmp_path):
    assert open_loop(tmp_path, 5000).warnings == ()


def test_one_that_is_not_is_a_result_with_a_sentence(tmp_path):
    trial = open_loop(tmp_path, 90_000)
    assert trial.state == "complete"
    (said,) = trial.warnings
    assert said.startswith("could not follow: 90,000/s offered, ")
    assert re.search(r"achieved; only \d+\.\d% of the offered load was completed; [\d,]+ arrivals had not ended", said)
    assert said.endswith("of them not even begun, so response times mainly say how long the trial was")


def test_a_ceiling_that_is_not_known_is_said(tmp_path):
    said = warnings_after(tmp_path, lambda record: None, lambda about: about.update(client_ceiling_note="no room"))
    assert said == "the client's ceiling is unknown: no room"


def test_seconds_that_were_profiled_are_said_with_the_reason(tmp_path):
    def profile(about):
        about["profiled"] = {"seconds": [2], "reason": "throughput fell to 9/s for 2 s, from a median of 99/s"}

    said = warnings_after(tmp_path, lambda record: None, profile)
    assert "1 s from second 2 on are in no figure: stacks were recorded, as throughput fell to 9/s" in said
    assert "measured for" not in said
