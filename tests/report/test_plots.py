"""Every plot shows each system in its colour, from zero, and never passes a broken trial off as a sound one."""

from itertools import pairwise

import pytest

from dbdyno.report import plots
from dbdyno.report.document import document


def by_series(figure, place, **wanted):
    return [
        trace
        for trace in figure["data"]
        if trace["meta"]["s"] == place and all(trace.get(key) == value for key, value in wanted.items())
    ]


def test_each_system_has_one_look_of_its_own(shown):
    series = plots.series_of(shown)
    assert len({(one.colour, one.symbol, one.dash) for one in series}) == len(series) == 6
    many = [plots.Series(place, "", "", "", ()) for place in range(30)]
    assert len({(one.colour, one.symbol, one.dash) for one in many}) == 30


def test_every_axis_of_figures_starts_at_zero(shown):
    for figure in plots.figures(plots.series_of(shown)).values():
        assert figure["layout"]["yaxis"]["rangemode"] == "tozero"


def test_broken_trials_are_hollow_and_the_line_leaves_them_out(shown):
    throughput = plots.figures(plots.series_of(shown))["throughput"]
    (line,) = by_series(throughput, 0, mode="lines")
    assert line["x"] == [1, 2]
    sound, broken = by_series(throughput, 0, mode="markers")
    assert sound["x"] == [1, 2] and broken["x"] == [4]
    assert broken["marker"]["symbol"].endswith("-open") and broken["marker"]["color"] == plots.UNUSABLE
    assert "not to be used" in broken["text"][0]


def test_an_outage_is_a_gap_with_marks(shown):
    timeline = plots.figures(plots.series_of(shown))["timeline"]
    over_time, marks = (trace for trace in by_series(timeline, 4) if trace["meta"]["c"] == 4)
    gaps = [x for x, y in zip(over_time["x"], over_time["y"], strict=True) if y is None]
    assert gaps == marks["x"] and len(gaps) > 1
    assert timeline["layout"]["shapes"][0]["x1"] == 1


def test_operations_come_reads_first(shown):
    assert list(plots.operations(plots.series_of(shown))) == ["read_player", "find_account", "update_player"]


def test_server_cpu_stands_on_the_clients(shown):
    cost = plots.figures(plots.series_of(shown))["cost"]
    client, server = by_series(cost, 2)
    assert server["base"] == pytest.approx(client["y"], abs=0.001)
    assert len(by_series(cost, 0)) == 1


def test_of_repetitions_the_median_stands_for_all(plain):
    (series,) = plots.series_of(document(plain))
    chosen = plots.representatives(series)
    assert list(chosen) == [1, 2]
    rates = sorted(trial["throughput_per_s"] for trial in series.trials if trial["clients"] == 1)
    assert chosen[1]["throughput_per_s"] == rates[0]


def test_labels_keep_their_distance():
    labels = plots.labels_with_room([1, 2, 4, 8, 16, 24, 32, 64, 96, 128, 160])
    shown = [int(label) for label in labels if label]
    assert shown[0] == 1 and all(after / before >= 1.4 for before, after in pairwise(shown))
    assert plots.labels_with_room([8]) == ["8"]
    assert plots.labels_with_room([]) == []


def test_names_are_escaped_for_plotly(shown):
    hover = [
        text for trace in plots.figures(plots.series_of(shown))["throughput"]["data"] for text in trace.get("text", [])
    ]
    assert any("&lt;script&gt;" in text for text in hover)
    assert not any("<script" in text for text in hover)
