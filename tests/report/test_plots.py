"""Every plot shows each system in its colour, from zero, and never passes a broken trial off as a sound one."""

from itertools import pairwise

import pytest

from dbdyno.report import plots
from dbdyno.report.document import document
from dbdyno.report.series import series_of


def by_series(figure, place, **wanted):
    return [
        trace
        for trace in figure["data"]
        if trace["meta"]["s"] == place and all(trace.get(key) == value for key, value in wanted.items())
    ]


def test_every_axis_of_figures_starts_at_zero(shown):
    for figure in plots.figures(series_of(shown)).values():
        lying = any(trace.get("orientation") == "h" for trace in figure["data"])
        assert figure["layout"]["xaxis" if lying else "yaxis"]["rangemode"] == "tozero"


def test_broken_trials_are_hollow_and_the_line_leaves_them_out(shown):
    throughput = plots.figures(series_of(shown))["throughput"]
    (line,) = by_series(throughput, 0, mode="lines")
    assert line["x"] == [1, 2]
    sound, broken = by_series(throughput, 0, mode="markers")
    assert sound["x"] == [1, 2] and broken["x"] == [4]
    assert broken["marker"]["symbol"].endswith("-open") and broken["marker"]["color"] == plots.UNUSABLE
    assert "not to be used" in broken["text"][0]


def test_server_cpu_stands_on_the_clients(shown):
    cost = plots.figures(series_of(shown))["cost"]
    client, server = by_series(cost, 2)
    assert server["base"] == pytest.approx(client["y"], abs=0.001)
    assert len(by_series(cost, 0)) == 1


def test_labels_keep_their_distance():
    labels = plots.labels_with_room([1, 2, 4, 8, 16, 24, 32, 64, 96, 128, 160])
    shown = [int(label) for label in labels if label]
    assert shown[0] == 1 and all(after / before >= 1.4 for before, after in pairwise(shown))
    assert plots.labels_with_room([8]) == ["8"]
    assert plots.labels_with_room([]) == []


def test_names_are_escaped_for_plotly(shown):
    hover = [text for trace in plots.figures(series_of(shown))["throughput"]["data"] for text in trace.get("text", [])]
    assert any("&lt;script&gt;" in text for text in hover)
    assert not any("<script" in text for text in hover)


def test_an_open_loop_is_drawn_over_what_was_offered(opened):
    figures = plots.figures(series_of(opened))
    throughput = figures["throughput"]
    everything, *_ = throughput["data"]
    assert everything["x"] == everything["y"] == [0, pytest.approx(20_000)]
    lines = by_series(throughput, 0, mode="lines")
    assert [line["x"] for line in lines] == [[2000, 20_000]] * 2
    assert throughput["layout"]["xaxis"]["title"]["text"] == "offered, transactions/s"
    (points,) = by_series(figures["latency-p99"], 1, mode="markers")
    assert len(points["x"]) == 4 and max(points["y"]) > 100 * min(points["y"])


def test_latencies_of_an_open_loop_are_response_times(opened):
    series = series_of(opened)
    assert plots.plot_unit(series)[0] == "s"
    operation = plots.figures(series)["operation-0"]
    behind = next(trial for trial in opened["trials"] if not trial["followed"])["operations"]["read_player"]
    shown = [bar["y"][2] for bar in by_series(operation, 1)]
    assert any(value == pytest.approx(behind["response_time_us"]["p99"] / 1e6, rel=0.5) for value in shown)


def test_a_figure_its_client_limited_is_drawn_as_a_lower_bound(limited):
    figures = plots.figures(series_of(limited))
    sound, bound = by_series(figures["throughput"], 0, mode="markers")
    assert (sound["x"], bound["x"]) == ([4], [8])
    assert bound["marker"]["symbol"] == plots.LOWER_BOUND and "the store may do more" in bound["text"][0]
    assert len(by_series(figures["latency-p99"], 0, mode="markers")) == 1


def test_repetitions_have_a_band_from_the_lowest_to_the_highest(plain):
    shown = document(plain)
    band, *_ = plots.figures(series_of(shown))["throughput"]["data"]
    rates = sorted(trial["throughput_per_s"] for trial in shown["trials"] if trial["clients"] == 1)
    assert band["fill"] == "toself" and band["x"] == [1, 2, 2, 1]
    assert [band["y"][-1], band["y"][0]] == pytest.approx(rates, abs=0.001)


def test_the_law_that_was_fitted_is_drawn_no_further_than_was_measured(limited):
    law = {"rate_per_s": 500.0, "contention": None, "coherency": None, "ceiling_per_s": 2500.0}
    sweep = {"label": "mariadb", "workload": "game", "pipeline": 1, "law": "ceiling", "parameters": law}
    fit = plots.figures(series_of(limited), [sweep])["throughput"]["data"][-1]
    assert (fit["x"][0], fit["x"][-1], fit["y"][0], fit["y"][-1]) == (4, 8, 2000, 2500)
    assert fit["line"]["dash"] == "dot" and fit["name"] == "mariadb: ceiling"
    nothing = sweep | {"law": None}
    assert fit not in plots.figures(series_of(limited), [nothing])["throughput"]["data"]


def test_at_one_load_systems_stand_side_by_side(plain):
    shown = document(plain)
    one_load = [trial for trial in shown["trials"] if trial["clients"] == 1]
    bar, points = plots.figures(series_of(dict(shown, trials=one_load)))["throughput"]["data"]
    assert bar["type"] == "bar" and bar["x"] == ["mariadb"] and points["x"] == ["mariadb"] * 2
    assert min(points["y"]) <= bar["y"][0] <= max(points["y"])
