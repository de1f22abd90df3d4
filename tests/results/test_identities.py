"""What does not add up is said; what does is not."""

import json

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
        (in_interval(lambda interval: interval.update(client_cpu_s=1.9)), "limited by the client"),
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


def test_littles_law_is_silent_where_errors_kept_clients_waiting(tmp_path):
    fail = in_interval(lambda interval: interval.update(errors={"timeout": 1}))
    assert warnings_after(tmp_path, fail, lambda about: about.update(clients=5)) == ""


def test_a_short_trial_is_said(tmp_path):
    said = warnings_after(tmp_path, lambda record: None, lambda about: about.update(seconds=10))
    assert "measured for 3.0 of 10 s" in said
