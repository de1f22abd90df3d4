"""Rows a second against keys a request."""

from dbdyno.report.core.series import series_of
from dbdyno.report.sections.batches import figures


def trial(label, workload, per_s, state="complete", clients=8):
    about = {"label": label, "system": label, "workload": workload, "state": state, "pipeline": 1}
    about |= {"durability": "D2", "durability_reason": "", "operations": {}}
    return about | {"clients": clients, "throughput_per_s": per_s}


def drawn(*trials):
    return figures(series_of({"trials": list(trials)}))


def test_a_line_a_store_has_the_median_of_the_rows():
    rates = [trial("a", "batch-get?batch=10", per_s) for per_s in (100.0, 300.0, 120.0)]
    figure = drawn(trial("a", "batch-get?batch=1", 500.0), *rates, trial("b<", "batch-get?batch=10", 7.0))["batch"]
    first, second = figure["data"]
    assert (first["x"], first["y"], first["name"]) == ([1, 10], [500, 1200], "a, 8 clients")
    assert (second["x"], second["y"], second["name"]) == ([10], [70], "b&lt;, 8 clients")
    assert figure["layout"]["xaxis"]["tickvals"] == [1, 10]


def test_a_trial_that_failed_is_left_out():
    assert drawn(trial("a", "batch-get?batch=1", 5.0), trial("a", "batch-get?batch=2", 5.0, state="failed")) == {}


def test_other_runs_and_requests_of_one_size_have_none():
    assert drawn(trial("a", "point-get", 5.0), trial("a", "batch-get?batch=2", 5.0)) == {}
