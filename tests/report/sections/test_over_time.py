"""Over time nothing is averaged away: an outage is a gap, a stall is drawn, and broken trials look broken."""

import numpy as np
import pytest

from dbdyno.report.core.page import PERCENTILES
from dbdyno.report.core.recordings import Recordings, recordings_of
from dbdyno.report.core.series import series_of
from dbdyno.report.document import document
from dbdyno.report.sections import over_time
from dbdyno.report.sections.over_time import by_load, by_trial, thinned
from dbdyno.results.conclusions import Budget


def test_an_outage_is_a_gap_with_marks(run_document):
    timeline = by_load(series_of(run_document))[2]["timeline"]
    line, marks = (trace for trace in timeline["data"] if trace["meta"]["s"] == 4)
    gaps = [x for x, y in zip(line["x"], line["y"], strict=True) if y is None]
    assert gaps == marks["x"] and len(gaps) > 1
    assert timeline["layout"]["shapes"][0]["x1"] == 1 and timeline["layout"]["yaxis"]["rangemode"] == "tozero"


def test_a_trial_that_is_not_complete_is_grey_and_dotted(run_document):
    (line, *_) = (trace for trace in by_load(series_of(run_document))[2]["timeline"]["data"] if trace["meta"]["s"] == 1)
    assert (line["line"]["color"], line["line"]["dash"]) == (over_time.UNUSABLE, "dot")


def test_of_repetitions_one_is_strong(plain):
    lines = by_load(series_of(document(plain)))[0]["timeline"]["data"]
    assert [line["opacity"] for line in lines] == [1, 0.35] and [line["showlegend"] for line in lines] == [True, False]


def test_a_closed_loop_beside_an_open_one_has_no_response_times(opened):
    closed = [dict(trial, rate=None) for trial in opened["trials"][:1]]
    figures = by_load(series_of(dict(opened, trials=[*closed, *opened["trials"][1:]])))
    assert "timeline" in figures[0] and not {f"timeline-{key}" for key in PERCENTILES} & set(figures[0])


def test_each_percentile_that_a_reader_can_choose_is_drawn_over_time(run_document):
    figures = by_load(series_of(run_document))[2]
    drawn = {key: figures[f"timeline-{key}"]["data"] for key in PERCENTILES if f"timeline-{key}" in figures}
    assert {"p50", "p95", "p99"} <= set(drawn)
    for lower, higher in (("p50", "p95"), ("p95", "p99")):
        pairs = [
            pair
            for below, above in zip(drawn[lower], drawn[higher], strict=True)
            for pair in zip(below["y"], above["y"], strict=True)
            if None not in pair
        ]
        assert pairs and all(below <= above for below, above in pairs) and any(below < above for below, above in pairs)


def test_thinning_keeps_the_second_that_stood_still():
    y = [100.0 + second % 7 for second in range(3600)]
    y[1234], y[2345], y[3000] = 0.0, 900.0, None
    x, kept = thinned(range(3600), y)
    assert len(x) <= over_time.MOST_POINTS and x == sorted(x)
    assert {(1234, 0.0), (2345, 900.0), (3000, None)} <= set(zip(x, kept, strict=True))
    assert thinned([1, 2], [3.0, None]) == ([1, 2], [3.0, None])


def test_a_heat_map_counts_every_transaction(run, run_document):
    single = by_trial(series_of(run_document), recordings_of(run))
    (heat,) = single[2, 1]["heat"]["data"]
    trial = next(trial for trial in run_document["trials"] if (trial["label"], trial["clients"]) == ("mariadb", 2))
    assert np.sum(heat["counts"]) == sum(second["transactions"] for second in trial["timeline"])
    assert len(heat["labels"]) == len(heat["y"]) == len(heat["counts"]) + 1 <= over_time.MOST_ROWS + 1
    assert len(heat["x"]) == len(heat["counts"][0]) + 1 == 14


def test_a_long_trial_has_a_heat_map_of_a_page_not_of_an_hour(run_document):
    seconds = np.repeat(np.arange(3600), 2)
    latencies = np.stack([seconds, np.tile([80, 400], 3600), np.ones(7200, np.int64)])
    single = by_trial(series_of(run_document), Recordings(lambda _: latencies))
    counts = np.array(single[2, 1]["heat"]["data"][0]["counts"])
    assert counts.shape[0] <= over_time.MOST_ROWS and counts.shape[1] <= over_time.MOST_COLUMNS
    assert counts.sum() == 7200


def test_what_was_not_recorded_is_not_drawn(run_document):
    part = by_trial(series_of(run_document), Recordings())[2, 1]
    assert part["heat"] is None and "checkpoints not observed" in part["words"]
    none = by_trial(series_of(run_document), Recordings(checkpoints=lambda _: []))[2, 1]
    assert "checkpoint" not in none["words"]
    (steady,) = part["shapes"]
    assert steady["label"]["text"] == "too short to tell" and steady["fillcolor"] == "rgba(0,0,0,0)"


@pytest.mark.parametrize(("applied", "begin", "dashes"), [(False, 6.0, ["dash", "dot"]), (True, 1.0, ["dot"])])
def test_the_steady_part_is_from_the_cut_to_the_end(run_document, applied, begin, dashes):
    steady = {"steady": True, "cut_s": 5, "applied": applied, "class": "warm-up"}
    trials = [dict(trial, steady_state=trial["steady_state"] | steady) for trial in run_document["trials"]]
    part = by_trial(series_of(dict(run_document, trials=trials)), Recordings(checkpoints=lambda _: [4.5]))[2, 1]
    steady, *lines = part["shapes"]
    assert (steady["x0"], steady["x1"], steady["opacity"]) == (begin, 13.0, 0.13)
    assert [line["line"]["dash"] for line in lines] == dashes and lines[-1]["x0"] == 4.5
    assert steady["label"]["text"] == "warm-up, steady from 5 s after the warm-up on"
    assert part["words"] == "steady state: warm-up, steady from 5 s after the warm-up on; 1 checkpoint"


def test_a_budget_is_stacked_band_on_band(run_document):
    bands = {"server_cpu": [1.0] * 1300, "lock": [None, 3.0] * 650}
    bands["commit"] = [0.0] * 1300
    budget = Budget(16.0, {}, bands, ("lock", "commit"))
    trials = [dict(trial, time_budget=budget) for trial in run_document["trials"]]
    cpu, lock, commit = by_trial(series_of(dict(run_document, trials=trials)), Recordings())[2, 1]["budget"]["data"]
    assert cpu["stackgroup"] == lock["stackgroup"]
    assert [trial["name"] for trial in (cpu, lock, commit)] == [
        "server CPU",
        "lock (partly observed)",
        "commit (not observed)",
    ]
    assert len(cpu["x"]) <= over_time.MOST_POINTS and set(lock["y"]) <= {3.0, None}
    trials = [dict(trial, time_budget=None) for trial in run_document["trials"]]
    assert by_trial(series_of(dict(run_document, trials=trials)), Recordings())[2, 1]["budget"] is None


def test_hits_are_drawn_of_what_has_a_cache(run_document):
    def with_hits(ratio):
        one_has = [
            dict(trial, timeline=[dict(second, hit_ratio=ratio(trial)) for second in trial["timeline"]])
            for trial in run_document["trials"]
        ]
        return by_load(series_of(dict(run_document, trials=one_has)))[1]

    (line,) = with_hits(lambda trial: 0.25 if trial["label"] == "mariadb" else None)["timeline-hits"]["data"]
    assert set(line["y"]) == {25.0} and "timeline-hits" not in with_hits(lambda _: None)


def test_the_longest_stall_of_each_second_is_drawn_if_some_trial_has_any_to_mention(hiccups, run_document):
    (figure,) = (figures["timeline-stalls"] for figures in by_load(series_of(hiccups)).values())
    (line,) = figure["data"]
    assert line["y"][:4] == [None, 212, 212, 20] and figure["layout"]["yaxis"]["ticksuffix"] == " ms"
    assert not any("timeline-stalls" in figures for figures in by_load(series_of(run_document)).values())


def test_what_was_observed_of_a_trial_comes_with_it(run, run_document):
    observed = by_trial(series_of(run_document), recordings_of(run))[2, 1]["observed"]
    lines = {panel["name"]: dict(panel["lines"]) for panel in observed["panels"]}
    assert {"host", "client", "mariadb"} <= lines["CPU used"].keys() and "commands" in lines
    assert observed["times"][0] == 0 and len(observed["times"]) == 14
    assert by_trial(series_of(run_document), Recordings())[2, 1]["observed"] is None


def test_seconds_in_which_stacks_were_recorded_are_shaded(run, run_document):
    series_and_load = 2, 1
    before = by_trial(series_of(run_document), recordings_of(run))[series_and_load]["shapes"]
    trials = [dict(trial, timeline=[*trial["timeline"]]) for trial in run_document["trials"]]
    for trial in filter(lambda trial: len(trial["timeline"]) > 2, trials):
        trial["timeline"][2] = trial["timeline"][2] | {"profiled": True}
    after = by_trial(series_of(dict(run_document, trials=trials)), recordings_of(run))[series_and_load]["shapes"]
    (shade,) = [shape for shape in after if shape.get("fillcolor") == over_time.UNUSABLE]
    assert (shade["x0"], shade["x1"]) == (2, 3) and len(after) == len(before) + 1
