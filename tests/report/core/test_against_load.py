"""Every plot against load shows each system in its colour, and never passes a broken trial off as a sound one."""

import pytest

from dbdyno.report.core.against_load import LOWER_BOUND
from dbdyno.report.core.plots import UNUSABLE
from dbdyno.report.core.series import series_of
from dbdyno.report.document import document
from dbdyno.report.sections import throughput

from .drawn import by_series


def test_broken_trials_are_hollow_and_the_line_leaves_them_out(run_document):
    drawn = throughput.figure(series_of(run_document))
    (line,) = by_series(drawn, 0, mode="lines")
    assert line["x"] == [1, 2]
    sound, broken = by_series(drawn, 0, mode="markers")
    assert sound["x"] == [1, 2] and broken["x"] == [4]
    assert broken["marker"]["symbol"].endswith("-open") and broken["marker"]["color"] == UNUSABLE
    assert "not to be used" in broken["text"][0]


def test_names_are_escaped_for_plotly(run_document):
    hover = [text for trace in throughput.figure(series_of(run_document))["data"] for text in trace.get("text", [])]
    assert any("&lt;script&gt;" in text for text in hover)
    assert not any("<script" in text for text in hover)


def test_repetitions_have_a_band_from_the_lowest_to_the_highest(plain):
    run_document = document(plain)
    band, *_ = throughput.figure(series_of(run_document))["data"]
    rates = sorted(trial["throughput_per_s"] for trial in run_document["trials"] if trial["clients"] == 1)
    assert band["fill"] == "toself" and band["x"] == [1, 2, 2, 1]
    assert [band["y"][-1], band["y"][0]] == pytest.approx(rates, abs=0.001)


def test_at_one_load_systems_stand_side_by_side(plain):
    run_document = document(plain)
    one_load = [trial for trial in run_document["trials"] if trial["clients"] == 1]
    bar, points = throughput.figure(series_of(dict(run_document, trials=one_load)))["data"]
    assert bar["type"] == "bar" and bar["x"] == ["mariadb"] and points["x"] == ["mariadb"] * 2
    assert min(points["y"]) <= bar["y"][0] <= max(points["y"])


def test_an_open_loop_is_drawn_over_what_was_offered(opened):
    drawn = throughput.figure(series_of(opened))
    everything, *_ = drawn["data"]
    assert everything["x"] == everything["y"] == [0, pytest.approx(20_000)]
    lines = by_series(drawn, 0, mode="lines")
    assert [line["x"] for line in lines] == [[2000, 20_000]] * 2
    assert drawn["layout"]["xaxis"]["title"]["text"] == "offered, transactions/s"


def test_a_figure_its_client_limited_is_drawn_as_a_lower_bound(limited):
    sound, bound = by_series(throughput.figure(series_of(limited)), 0, mode="markers")
    assert (sound["x"], bound["x"]) == ([4], [8])
    assert bound["marker"]["symbol"] == LOWER_BOUND and "the store may do more" in bound["text"][0]
