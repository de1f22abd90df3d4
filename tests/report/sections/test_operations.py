"""Each operation of a transaction has its plot; of an open loop its times are response times."""

import pytest

from dbdyno.report.core.page import Page
from dbdyno.report.core.series import series_of
from dbdyno.report.sections import operations

from ..core.drawn import by_series


def test_every_operation_has_a_plot_and_all_together_their_shares(run_document):
    part = operations.part(Page(run_document))
    names = [name for _, name, _ in part.content["operations"]]
    assert names == ["read_player", "find_account", "update_player"]
    assert part.figures.keys() == {"steps", *(id for id, _, _ in part.content["operations"])}
    for figure in part.figures.values():
        lying = any(trace.get("orientation") == "h" for trace in figure["data"])
        assert figure["layout"]["xaxis" if lying else "yaxis"]["rangemode"] == "tozero"


def test_latencies_of_an_open_loop_are_response_times(opened):
    plot = operations.figures(series_of(opened))["operation-0"]
    behind = next(trial for trial in opened["trials"] if not trial["followed"])["operations"]["read_player"]
    drawn = [bar["y"][2] for bar in by_series(plot, 1)]
    assert any(value == pytest.approx(behind["response_time_us"]["p99"] / 1e6, rel=0.5) for value in drawn)


def test_a_run_without_clients_has_none(run_document):
    assert operations.part(Page(run_document, clients_loaded=False)) is None
