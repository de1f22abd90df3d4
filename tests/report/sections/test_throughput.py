"""Throughput is drawn from zero, with the law that fits as far as was measured."""

from dbdyno.report.core.page import Page
from dbdyno.report.core.series import series_of
from dbdyno.report.sections import throughput


def test_its_axis_begins_at_zero(run_document):
    assert throughput.figure(series_of(run_document))["layout"]["yaxis"]["rangemode"] == "tozero"


def test_the_law_that_was_fitted_is_drawn_no_further_than_was_measured(limited):
    law = {"rate_per_s": 500.0, "contention": None, "coherency": None, "ceiling_per_s": 2500.0}
    sweep = {"label": "mariadb", "workload": "game", "pipeline": 1, "law": "ceiling", "parameters": law}
    fit = throughput.figure(series_of(limited), [sweep])["data"][-1]
    assert (fit["x"][0], fit["x"][-1], fit["y"][0], fit["y"][-1]) == (4, 8, 2000, 2500)
    assert fit["line"]["dash"] == "dot" and fit["name"] == "mariadb: ceiling"
    nothing = sweep | {"law": None}
    assert fit not in throughput.figure(series_of(limited), [nothing])["data"]


def test_it_applies_to_runs_of_clients_that_measured_something(run_document):
    assert throughput.part(Page(run_document)).figures.keys() == {"throughput"}
    assert throughput.part(Page(run_document, clients_loaded=False)) is None
    assert throughput.part(Page(run_document | {"trials": []})) is None
