"""A host before and after a run, drawn from zero, with no stall hidden and none that hides the rest."""

import pytest

from dbdyno.report.sections.host_plots import host_figures, host_section

FLUSH = {"p50": 100.0, "p99": 900.0, "slot_s": 0.1, "slots": [100.0, None, 120.0], "worst": [110.0, None, 90_000.0]}
BEFORE = {"disk": {"flush_us": FLUSH}, "not_measured": {"memory": "no room"}}
AFTER = {"disk": {"flush_us": {**FLUSH, "p50": 500.0, "slots": [400.0, 500.0, 600.0], "worst": [400, 500, 700]}}}


@pytest.fixture
def environment():
    return {"cpus": 2, "measured": BEFORE, "measured_after": AFTER}


def test_what_was_not_measured_has_no_section():
    assert host_section({"cpus": 2, "measured": None}) is None
    assert host_figures({"measured": None, "measured_after": None}) == {}


def test_both_times_stand_beside_each_other(environment):
    section = host_section(environment)
    rows = dict(section.rows)
    assert list(section.when) == ["before", "after"]
    assert rows["write and flush of 4 KiB, median"] == ["100 µs", "500 µs"]
    assert rows["copying memory, best"] == ["–", "–"]
    assert section.worse == ["write and flush of 4 KiB: 500 µs against 110 µs before the run"]
    assert section.not_measured == {"memory": "no room"}
    assert [caption for _, caption in section.plots] == ["write and flush of 4 KiB, µs"]
    assert set(host_figures(environment)) == {id for id, _ in section.plots}


def test_a_plot_begins_at_zero_and_says_what_lies_beyond_it(environment):
    (figure,) = host_figures(environment).values()
    top = figure["layout"]["yaxis"]["range"][1]
    assert figure["layout"]["yaxis"]["range"][0] == 0 and 700 < top < 90_000
    lines = [trace for trace in figure["data"] if trace["mode"] == "lines+markers"]
    assert [line["y"] for line in lines] == [[100.0, None, 120.0], [400.0, 500.0, 600.0]]
    assert lines[0]["x"] == [0.05, 0.15, 0.25]
    (beyond,) = [trace for trace in figure["data"] if trace["marker"].get("symbol") == "triangle-up"]
    assert beyond["y"] == [top] and beyond["text"] == ["worst 90,000 µs before the run"]


def test_nothing_but_zeros_has_an_axis():
    (figure,) = host_figures({"measured": {"processor": {"slot_s": 0.1, "steal_slots": [0.0, 0.0]}}}).values()
    assert figure["layout"]["yaxis"]["range"] == [0, 1.0]
