"""Groups of clients have their own throughput, and one that misses its rate is named."""

import json

import pytest

from dbdyno.results.groups import group_figures
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

SECONDS = 4
"""Measured, behind a warm-up of one."""


def group(name, clients, start_s=0, rate=None, think_time=None):
    about = {"name": name, "clients": clients, "start_s": start_s, "transactions": None, "access": None}
    return about | {"rate": rate, "think_time": think_time, "transactions_per_connection": 0}


def trial_of(folder, *groups, completed_share=1.0):
    """Write a trial whose groups have all of its transactions each, and have completed this share of their arrivals."""
    run = write_run(folder / "run", (SYSTEMS[4],), clients=(4,), seconds=SECONDS)
    (path,) = run.glob("trials/*/records.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        if record["record"] == "hello":
            record["operations"] += [{"name": of["name"], "operation": "clients", "table": None} for of in groups]
        if record["record"] in ("interval", "total"):
            whole = {key: record["transactions"][key] for key in ("completed", "failed")}
            times = {"service_time": record["transactions"]["service_time"]} if record["record"] == "interval" else {}
            for of in groups:
                due = {"scheduled": round(whole["completed"] / completed_share)} if of["rate"] else {}
                record["operations"][of["name"]] = whole | times | due
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    about = json.loads(path.with_name("trial.json").read_text())
    path.with_name("trial.json").write_text(json.dumps(about | {"client_groups": groups}))
    (trial,) = read_run(run).trials
    return trial


def test_a_group_that_starts_later_counts_only_its_own_seconds(tmp_path):
    trial = trial_of(tmp_path, group("first", 2), group("later", 2, start_s=3))
    first, later = group_figures(trial.recorded, trial.facts)
    assert first.throughput_per_s == trial.recorded.throughput_per_s
    assert later.throughput_per_s == pytest.approx(first.throughput_per_s * SECONDS / 2)
    assert (first.followed, first.offered_per_s, first.times.name) == (None, None, "first")


@pytest.mark.parametrize(("share", "followed"), [(1.0, True), (0.995, True), (0.97, False)])
def test_a_group_follows_its_rate_if_a_hundredth_is_left_at_most(share, followed, tmp_path):
    rate = {"words": "900/s", "arrivals": "constant", "per_s": 900}
    trial = trial_of(tmp_path, group("readers", 2), group("writer", 2, rate=rate), completed_share=share)
    _, writer = group_figures(trial.recorded, trial.facts)
    assert writer.followed is followed
    said = " ".join(trial.warnings)
    assert ("clients 'writer' missed their rate:" in said) is not followed
    assert "in flight on average" not in said


def test_clients_that_think_are_not_in_flight_all_the_time(tmp_path):
    trial = trial_of(tmp_path, group("readers", 4, think_time="5 µs"))
    assert trial.facts.is_pausing and not trial_of(tmp_path / "b", group("readers", 4)).facts.is_pausing
