"""Counters add up over a run, gauges are of the last second, and what is in no figure of a trial is in no metric."""

from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.trials import Trial
from dbdyno.metrics import figures as names
from helpers import workload
from metrics.conftest import LABELS, ended, histogram, interval, named


def only(figures, metric):
    (point,) = named(figures.now(metric))
    return point


def test_counters_add_up_and_gauges_are_of_the_last_second(figures, trial):
    figures.trial_begins(trial)
    for completed in (1000, 3000):
        figures.record_came(interval(completed, errors={"timeout": 2}))
    assert only(figures, names.TRANSACTIONS).labels == LABELS
    assert only(figures, names.TRANSACTIONS).value == 4000
    assert only(figures, names.CLIENT_CPU).value == 0.5
    failed = only(figures, names.FAILED)
    assert (failed.value, failed.labels) == (4, LABELS | {"kind": "timeout"})
    assert only(figures, names.THROUGHPUT).value == 3000
    assert (only(figures, names.CONNECTED).value, only(figures, names.WARMUP).value) == (8, 0)


def test_a_second_that_was_cut_short_has_its_own_rate(figures, trial):
    figures.trial_begins(trial)
    figures.record_came(interval(500, seconds=0.5))
    assert only(figures, names.THROUGHPUT).value == 1000


def test_latencies_are_in_seconds(figures, trial):
    figures.trial_begins(trial)
    figures.record_came(interval())
    latencies = {point.labels["statistic"]: round(point.value, 4) for point in named(figures.now(names.LATENCY))}
    assert latencies == {"p50": 0.004, "p95": 0.004, "p99": 0.004, "max": 0.004}


def test_too_few_transactions_tell_no_percentile(figures, trial):
    figures.trial_begins(trial)
    figures.record_came(interval(5))
    assert [point.labels["statistic"] for point in named(figures.now(names.LATENCY))] == ["max"]
    figures.record_came(interval(0))
    assert named(figures.now(names.LATENCY)) == []


def test_an_open_loop_has_arrivals_and_response_times(figures, open_trial):
    figures.trial_begins(open_trial)
    figures.record_came(interval(transactions={"scheduled": 500, "response_time": histogram(500, 8_000_000)}))
    assert (only(figures, names.SCHEDULED).value, only(figures, names.SCHEDULED).labels["rate"]) == (500, "500/s")
    assert {round(point.value, 4) for point in named(figures.now(names.LATENCY))} == {0.008}


def test_after_a_trial_its_counters_stay_and_its_gauges_go(figures, trial):
    figures.trial_begins(trial)
    figures.record_came(interval())
    figures.trial_ended(ended(trial))
    # The load that confirms a limit comes after the trial, and is in none of its figures.
    figures.record_came(interval())
    assert only(figures, names.TRANSACTIONS).value == 2000
    assert not any(figures.now(metric) for metric in (names.THROUGHPUT, names.LATENCY, names.CONNECTED, names.WARMUP))
    assert (only(figures, names.ENDED).value, only(figures, names.ENDED).labels["state"]) == (1, "complete")


def test_the_number_of_trials_follows_the_run(figures):
    figures.trials_are_added(4, "one undecided comparison")
    figures.steps_are_left_out(2, "")
    planned = only(figures, names.TRIALS)
    assert (planned.value, planned.labels) == (5, {"experiment": "mine", "run": "a-run"})


def test_records_of_loading_are_no_transactions(figures, trial):
    figures.record_came(interval())
    figures.trial_begins(trial)
    figures.record_came({"record": "progress", "done": 1})
    assert not figures.now(names.TRANSACTIONS)


def test_labels_have_no_password(figures):
    url = "mysql://me:hidden@db.example/test"
    figures.trial_begins(Trial("001-x", SystemSpec("mysql", label=url), workload("game"), 1, 1))
    figures.record_came(interval())
    assert only(figures, names.TRANSACTIONS).labels["system"] == "mysql://me:***@db.example/test"


def test_whoever_waits_is_told_of_each_change(figures, trial):
    changes = []
    figures.changed = lambda: changes.append(figures.now(names.TRANSACTIONS))
    figures.trial_begins(trial)
    figures.record_came(interval())
    figures.trial_ended(ended(trial))
    assert len(changes) == 2 and all(changes)


def test_every_metric_has_the_labels_it_promises(figures, trial):
    figures.trial_begins(trial)
    scheduled = {"scheduled": 5}
    figures.record_came(interval(errors={"timeout": 1}, transactions=scheduled))
    counted = {metric: figures.now(metric) for metric in names.METRICS if metric != names.ENDED}
    assert all(counted.values())
    for metric, values in counted.items():
        assert {tuple(name for name, _ in labels) for labels in values} == {names.labels_of(metric)}
