"""A verdict is kept in its trial's folder, and drawn anew where it is not there or of another format."""

import json
from dataclasses import replace

import numpy as np

from dbdyno.results.conclusions import VERDICT_FORMAT, Conclusions, Locks
from dbdyno.results.read import read_trial
from dbdyno.verdict.judge import judge, judge_folder, judged
from synthetic_run import SYSTEMS, write_run

from .made import IDLE_HOST, host, trial, waits


def test_what_is_concluded():
    concluded = judge(trial(waits(lock=15, commit=1) | host(IDLE_HOST)))
    verdict, budget = concluded.verdict, concluded.time_budget
    assert (verdict.limit, verdict.runner_up, verdict.confidence) == ("lock", "commit", "high")
    assert verdict.evidence == ("15.0 of 16.0 operations in flight (94%) were waiting for a lock",)
    assert verdict.evidence[0] in verdict.sentence
    assert budget.in_flight == 16 and budget.bands["lock"] == 15
    assert budget.per_second["commit"] == [1.0] * 11
    assert budget.not_seen == ("client_cpu_wait", "server_queue")
    assert concluded.locks == Locks()
    assert Conclusions.read(json.loads(json.dumps(concluded.document()))) == concluded


def test_only_a_client_that_is_the_limit_makes_the_figure_a_lower_bound():
    made = trial(waits(client=15.9, cpu=0.1) | {"process.client.run_queue_s_total": 1.9} | host(IDLE_HOST))
    concluded = judge(made)
    assert concluded.verdict.limit == "client"
    assert concluded.client_limited == "its load threads waited for a processor 95% of the time"
    marked = replace(trial(waits(lock=15, commit=1)), client_limited="it reached 80%")
    object.__setattr__(marked, "observations", made.observations)
    assert judge(replace(marked, state="interrupted")).client_limited == "it reached 80%"
    served = trial(waits(cpu=2, cpu_wait=13.5, client=0.5))
    recorded = replace(served, client_limited="it reached 80%")
    object.__setattr__(recorded, "observations", served.observations)
    assert judge(recorded).client_limited is None


def test_a_trial_that_did_not_end_has_no_verdict():
    assert judge(replace(trial(), state="interrupted")).verdict is None
    assert judge(trial(completed=np.zeros(11))).verdict is None


def only_trial(run):
    """Its folder, without what was observed, so that nothing explains it."""
    (folder,) = run.glob("trials/*")
    for file in folder.glob("observations.*"):
        file.unlink()
    return folder


def test_it_is_kept_in_the_folder(tmp_path):
    folder = only_trial(write_run(tmp_path / "run", SYSTEMS[2:3], (4,)))
    assert read_trial(folder).judged is None
    concluded = judge_folder(folder)
    read = read_trial(folder)
    assert json.loads((folder / "verdict.json").read_text()) == concluded.document()
    assert read.judged == judged(read) == concluded
    assert concluded.verdict.limit == "unexplained" and concluded.client_limited is read.client_limited is None


def test_one_of_another_format_or_gone_stale_is_drawn_anew(tmp_path):
    folder = only_trial(write_run(tmp_path / "run", SYSTEMS[2:3], (4,)))
    (folder / "verdict.json").write_text('{"format": 0}')
    trial = read_trial(folder)
    assert trial.judged is None and judged(trial).verdict.limit == "unexplained"
    stale = {"format": VERDICT_FORMAT, "client_limited": "stale", "verdict": None}
    (folder / "verdict.json").write_text(json.dumps(stale))
    assert read_trial(folder).client_limited == "stale"
    assert judge_folder(folder).client_limited is None
