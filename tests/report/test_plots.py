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
    over_time, marks = (trace for trace in by_series(timeline, 4) if trace["meta"]["c"] == 2)
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
    assert [load.clients for load in chosen] == [1, 2]
    rates = sorted(trial["throughput_per_s"] for trial in series.trials if trial["clients"] == 1)
    assert next(iter(chosen.values()))["throughput_per_s"] == rates[0]


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


def test_an_open_loop_is_drawn_over_what_was_offered(opened):
    figures = plots.figures(plots.series_of(opened))
    throughput = figures["throughput"]
    everything, *_ = throughput["data"]
    assert everything["x"] == everything["y"] == [0, pytest.approx(20_000)]
    lines = by_series(throughput, 0, mode="lines")
    assert [line["x"] for line in lines] == [[2000, 20_000]] * 2
    assert throughput["layout"]["xaxis"]["title"]["text"] == "offered, transactions/s"
    (points,) = by_series(figures["latency-p99"], 1, mode="markers")
    assert len(points["x"]) == 4 and max(points["y"]) > 100 * min(points["y"])
    assert figures["timeline"]["data"][0]["meta"]["c"] == 0


def test_latencies_of_an_open_loop_are_response_times(opened):
    series = plots.series_of(opened)
    assert plots.plot_unit(series)[0] == "s"
    operation = plots.figures(series)["operation-0"]
    behind = next(trial for trial in opened["trials"] if not trial["followed"])["operations"]["read_player"]
    shown = [bar["y"][2] for bar in by_series(operation, 1)]
    assert any(value == pytest.approx(behind["response_time_us"]["p99"] / 1e6, rel=0.5) for value in shown)


def test_a_figure_its_client_limited_is_drawn_as_a_lower_bound(limited):
    figures = plots.figures(plots.series_of(limited))
    sound, bound = by_series(figures["throughput"], 0, mode="markers")
    assert (sound["x"], bound["x"]) == ([4], [8])
    assert bound["marker"]["symbol"] == plots.LOWER_BOUND and "the store may do more" in bound["text"][0]
    assert len(by_series(figures["latency-p99"], 0, mode="markers")) == 1


def test_what_is_pipelined_is_a_series_of_its_own(limited):
    first, second = limited["trials"]
    series = plots.series_of(dict(limited, trials=[first, dict(second, pipeline=16)]))
    assert [one.name for one in series] == ["mariadb", "mariadb, pipeline 16"]
