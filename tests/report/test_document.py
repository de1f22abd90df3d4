"""The document has every key a program may rely on, and figures that agree with one another."""

import json
from dataclasses import replace

from dbdyno.report.document import document, json_document
from dbdyno.report.html import render
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

TRIAL_KEYS = {
    "system",
    "settings",
    "workload",
    "clients",
    "seconds",
    "transactions",
    "throughput_per_s",
    "errors",
    "reads_verified",
    "mismatches",
    "durability",
    "client_cpu_us_per_transaction",
    "operations",
    "timeline",
}


def test_it_is_json_with_every_promised_key(run):
    again = json.loads(json.dumps(json_document(run), allow_nan=False))
    assert {"run", "experiment", "trials"} <= again.keys()
    for trial in again["trials"]:
        assert trial.keys() >= TRIAL_KEYS
        for operation in trial["operations"].values():
            assert {"count", "errors", "service_time_us"} <= operation.keys()
            assert operation["service_time_us"].keys() == {"mean", "p50", "p95", "p98", "p99", "p999", "max"}
        for second in trial["timeline"]:
            assert {"second", "transactions", "errors", "p99_us"} <= second.keys()


def test_it_is_the_same_once_it_was_json(run):
    run_document = json_document(run)
    assert json.loads(json.dumps(run_document)) == run_document


def test_states_and_what_is_missing(run_document):
    states = {(trial["label"], trial["clients"]): trial["state"] for trial in run_document["trials"]}
    assert states["sqlite", 4] == states["mariadb", 4] == "failed"
    assert states["lmdb", 4] == "interrupted"
    unreached = next(trial for trial in run_document["trials"] if trial["state"] == "not reached")
    assert (unreached["system"], unreached["throughput_per_s"], unreached["timeline"]) == (None, None, [])


def test_repetitions_are_read_by_system_and_load_whatever_order_they_were_run_in(tmp_path):
    folder = write_run(tmp_path / "run", SYSTEMS[:2], clients=(1, 2), repeats=2, faults={("lmdb", 2): "not-reached"})
    file = folder / "run.json"
    about = json.loads(file.read_text())
    about |= {"systems": ["lmdb", "sqlite"], "workloads": ["game"], "trials": about["trials"][::-1]}
    file.write_text(json.dumps(about))
    trials = document(read_run(folder))["trials"]
    assert [(trial["label"], trial["clients"], trial["repeat"]) for trial in trials[:6]] == [
        ("lmdb", 1, 1),
        ("lmdb", 1, 2),
        ("sqlite", 1, 1),
        ("sqlite", 1, 2),
        ("sqlite", 2, 1),
        ("sqlite", 2, 2),
    ]
    assert [trial["state"] for trial in trials[6:]] == ["not reached"] * 2
    assert read_run(folder).labels == ("lmdb", "sqlite")


def test_an_open_loop_that_was_cut_short_at_once_has_no_figures_and_a_page(tmp_path):
    run = read_run(write_run(tmp_path / "run", SYSTEMS[1:2], clients=(4,), seconds=3, rates=(2000,)))
    (trial,) = run.trials
    cut = replace(trial, state="interrupted", recorded=replace(trial.recorded, intervals=(), total=None))
    run_document = document(replace(run, trials=(cut,)))
    assert (run_document["trials"][0]["offered_per_s"], run_document["trials"][0]["unfinished"]) == (None, None)
    assert "interrupted" in render(run_document)
