"""The shares of a transaction's time are of all its operations, and add up."""

import pytest

from dbdyno.report.core.series import series_of
from dbdyno.report.sections.shares import COLOURS, shares
from dbdyno.results.operations import NEITHER, READS, WRITES


def test_the_shares_of_a_system_add_up_reads_and_writes_told_apart(run_document):
    figure = shares(series_of(run_document))
    bars = [bar for bar in figure["data"] if bar["meta"] == {"s": 2, "c": 1}]
    assert sum(bar["x"][0] for bar in bars) == pytest.approx(100, abs=0.1)
    names = ["read_player", "update_player", "find_account"]
    assert [bar["name"] for bar in figure["data"] if bar["showlegend"]] == names * 3
    colours = {bar["name"]: bar["marker"]["color"] for bar in bars}
    assert colours["update_player"] in COLOURS[WRITES] and colours["read_player"] in COLOURS[READS]
    assert len(set(colours.values())) == len(colours) == 3


def test_statements_that_may_read_or_write_have_colours_of_their_own(run_document):
    trials = [
        dict(trial, operations={name: dict(two, operation="sql") for name, two in trial["operations"].items()})
        for trial in run_document["trials"]
    ]
    bars = shares(series_of(dict(run_document, trials=trials)))["data"]
    assert {bar["marker"]["color"] for bar in bars} == set(COLOURS[NEITHER][:3])


def test_of_one_operation_there_is_no_share(run_document):
    of_one = [
        dict(trial, operations={"read_player": trial["operations"]["read_player"]})
        for trial in run_document["trials"]
        if trial["operations"]
    ]
    assert shares(series_of(dict(run_document, trials=of_one)))["data"] == []


def test_each_load_has_its_bars_and_names_each_operation_once(run_document):
    figure = shares(series_of(run_document))
    by_load = {load: [bar for bar in figure["data"] if bar["meta"]["c"] == load] for load in range(3)}
    assert {bar["meta"]["s"] for bar in by_load[0]} == {0, 1, 2, 3, 4 + 1}
    for bars in by_load.values():
        assert sum(bar["showlegend"] for bar in bars) == 3 < len(bars)
