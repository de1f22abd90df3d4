"""What is written for Prometheus is what its own parsers read."""

import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

from dbdyno.export.prometheus import to_prometheus
from dbdyno.tables.seconds import seconds_of
from dbdyno.tables.table import Table
from dbdyno.tables.trials import COLUMNS, trials_of


def samples_of(families):
    return {family.name: family.samples for family in families}


def test_trials_are_gauges_without_a_time(run):
    found = samples_of(parser.text_string_to_metric_families(to_prometheus(trials_of([run]))))
    throughput = found["dbdyno_trial_transactions_per_second"]
    recorded = {trial.name: trial.recorded for trial in run.trials}
    assert {one.labels["trial"]: one.value for one in throughput} == {
        name: one.throughput_per_s for name, one in recorded.items()
    }
    assert {one.timestamp for one in throughput} == {None}
    latency = {
        (one.labels["trial"], one.labels["time"]): one.value
        for one in found["dbdyno_trial_latency_seconds"]
        if one.labels["statistic"] == "max"
    }
    for name, one in recorded.items():
        assert latency[name, "service"] == pytest.approx(one.service_time.max_ns / 1e9)
        assert ((name, "response") in latency) == (one.response_time is not None)


def test_a_trial_that_failed_is_not_complete(faulty):
    found = samples_of(parser.text_string_to_metric_families(to_prometheus(trials_of([faulty]))))
    complete = {one.labels["clients"]: one.value for one in found["dbdyno_trial_complete"]}
    assert complete == {"2": 0.0, "4": 1.0}


def test_seconds_have_the_time_of_their_end(run):
    text = to_prometheus(seconds_of([run]))
    found = samples_of(openmetrics.text_string_to_metric_families(text))
    trial = run.trials[0]
    own = [one for one in found["dbdyno_transactions_per_second"] if one.labels["trial"] == trial.name]
    assert [one.value for one in own] == [one.completed for one in trial.recorded.intervals]
    began = trial.recorded.run_began_unix_s
    assert [round(float(one.timestamp) - began, 3) for one in own] == [1.0, 2.0, 3.0, 4.0]
    assert {one.labels["statistic"] for one in found["dbdyno_latency_seconds"]} >= {"p50", "max"}
    assert text.endswith("# EOF\n")


def test_labels_of_any_text_are_read_back(run):
    (row, *_) = trials_of([run]).rows()
    table = Table("trials", COLUMNS, [(row[0], row[1], 'a "b"\\\nc', *row[3:])])
    found = samples_of(parser.text_string_to_metric_families(to_prometheus(table)))
    assert found["dbdyno_trial_transactions_per_second"][0].labels["system"] == 'a "b"\\\nc'
