"""A run's sweeps come from usable trials and nothing else."""

import json
from dataclasses import replace

from dbdyno.report.document import document
from dbdyno.report.sections.sweeps import sweeps
from dbdyno.results.conclusions import Conclusions
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


def swept(folder, **keys):
    return read_run(write_run(folder, SYSTEMS[2:3], clients=(1, 2, 4, 8, 16, 32), repeats=2, **keys))


def test_a_closed_queue_scales_by_amdahls_law(tmp_path):
    (fit,) = json.loads(json.dumps(document(swept(tmp_path / "run"))["scalability"], allow_nan=False))
    assert (fit["label"], fit["workload"], fit["trials"], fit["law"]) == ("mariadb", "game", 12, "amdahl")
    low, high = fit["contention"]
    assert low <= fit["parameters"]["contention"] <= high and fit["peak_clients"] is None
    assert fit["words"].startswith("each client adds less") and set(fit["aicc"]) == {
        "linear",
        "ceiling",
        "amdahl",
        "usl",
    }


def test_failed_trials_and_open_loops_take_no_part(tmp_path):
    run = swept(tmp_path / "run", faults={("mariadb", 32): "server-died"})
    assert sweeps(run)[0]["trials"] == 10
    rate = {"per_s": 100, "words": "100/s"}
    asked = replace(run, trials=tuple(replace(trial, about={**trial.about, "rate": rate}) for trial in run.trials))
    assert sweeps(asked) == []


def test_a_clients_ceiling_is_not_taken_for_the_stores(tmp_path):
    run = swept(tmp_path / "run")
    limited = replace(
        run, trials=tuple(replace(trial, judged=Conclusions(client_limited="busy")) for trial in run.trials)
    )
    assert sweeps(limited)[0]["words"].endswith("; 12 of 12 trials were limited by the client")


def test_too_few_say_so(plain):
    (fit,) = sweeps(plain)
    assert fit["law"] is None and "too few trials" in fit["words"]


def test_the_steady_state_stands_in_every_trial(tmp_path):
    run = read_run(write_run(tmp_path / "run", SYSTEMS[2:3], clients=(1,), seconds=60))
    state = document(run)["trials"][0]["steady_state"]
    assert state["class"] == "flat" and state["cut_s"] == 0 and abs(state["drift_per_hour"]) < 5
    short = document(swept(tmp_path / "short"))["trials"][0]["steady_state"]
    assert (short["class"], short["drift_per_hour"]) == ("too short to tell", None)


def test_one_pass_in_the_order_listed_is_said(tmp_path):
    run = read_run(write_run(tmp_path / "run", SYSTEMS[2:3], clients=(1, 2, 4, 8, 16, 32)))
    assert sweeps(run)[0]["words"].endswith("; one pass, in the order listed")
    drawn = replace(run, about={**run.about, "order": "randomised ABBA blocks"})
    assert sweeps(drawn)[0]["words"].endswith("; one pass")
