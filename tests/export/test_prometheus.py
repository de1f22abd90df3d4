"""Prometheus's own parsers read what is written for it."""

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
    samples = samples_of(parser.text_string_to_metric_families(to_prometheus(trials_of([run]))))
    throughput = samples["dbdyno_trial_transactions_per_second"]
    recorded = {trial.name: trial.recorded for trial in run.trials}
    assert {sample.labels["trial"]: sample.value for sample in throughput} == {
        name: recording.throughput_per_s for name, recording in recorded.items()
    }
    assert {sample.timestamp for sample in throughput} == {None}
    latency = {
        (sample.labels["trial"], sample.labels["time"]): sample.value
        for sample in samples["dbdyno_trial_latency_seconds"]
        if sample.labels["statistic"] == "max"
    }
    for name, recording in recorded.items():
        assert latency[name, "service"] == pytest.approx(recording.service_time.max_ns / 1e9)
        assert ((name, "response") in latency) == (recording.response_time is not None)


def test_a_trial_that_failed_is_not_complete(faulty):
    samples = samples_of(parser.text_string_to_metric_families(to_prometheus(trials_of([faulty]))))
    complete = {sample.labels["clients"]: sample.value for sample in samples["dbdyno_trial_complete"]}
    assert complete == {"2": 0.0, "4": 1.0}


def test_seconds_have_the_time_of_their_end(run):
    text = to_prometheus(seconds_of([run]))
    samples = samples_of(openmetrics.text_string_to_metric_families(text))
    trial = run.trials[0]
    own = [sample for sample in samples["dbdyno_transactions_per_second"] if sample.labels["trial"] == trial.name]
    assert [sample.value for sample in own] == [interval.completed for interval in trial.recorded.intervals]
    began = trial.recorded.run_began_unix_s
    assert [round(float(sample.timestamp) - began, 3) for sample in own] == [1.0, 2.0, 3.0, 4.0]
    assert {sample.labels["statistic"] for sample in samples["dbdyno_latency_seconds"]} >= {"p50", "max"}
    assert text.endswith("# EOF\n")


def test_labels_of_any_text_are_read_back(run):
    (row, *_) = trials_of([run]).rows()
    table = Table("trials", COLUMNS, [(row[0], row[1], 'a "b"\\\nc', *row[3:])])
    samples = samples_of(parser.text_string_to_metric_families(to_prometheus(table)))
    assert samples["dbdyno_trial_transactions_per_second"][0].labels["system"] == 'a "b"\\\nc'
