"""Latency is drawn from zero; of an open loop it is the response time."""

from dbdyno.report.core.page import PERCENTILES, Page
from dbdyno.report.core.series import series_of
from dbdyno.report.sections import latency

from ..core.drawn import by_series


def test_its_axes_begin_at_zero(run_document):
    plots = latency.part(Page(run_document)).figures
    assert plots.keys() == {f"latency-{key}" for key in PERCENTILES}
    assert {plot["layout"]["yaxis"]["rangemode"] for plot in plots.values()} == {"tozero"}


def test_an_open_loop_that_is_not_followed_has_long_response_times(opened):
    (points,) = by_series(latency.figures(series_of(opened))["latency-p99"], 1, mode="markers")
    assert len(points["x"]) == 4 and max(points["y"]) > 100 * min(points["y"])


def test_a_latency_is_no_lower_bound(limited):
    assert len(by_series(latency.figures(series_of(limited))["latency-p99"], 0, mode="markers")) == 1


def test_a_run_without_clients_has_none(run_document):
    assert latency.part(Page(run_document, clients_loaded=False)) is None
