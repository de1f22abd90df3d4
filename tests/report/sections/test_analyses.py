"""The table of query times."""

from io import StringIO

from rich.console import Console

from dbdyno.report.core.looks import Look
from dbdyno.report.core.series import Series
from dbdyno.report.sections.analyses import (
    analysed,
    answers,
    column_ns,
    figures,
    how_asked,
    limits,
    loading,
    name,
    print_analyses,
    scans,
    sentence,
)
from dbdyno.results.conclusions import Verdict


def trial(label, differs=None):
    queries = [
        {"name": "q0", "what": "flights", "cold_s": 1.25, "hot_s": [0.3, 0.1, 0.2], "answer": [[1]], "differs": None},
        {"name": "q1", "what": "more", "cold_s": 2.5, "hot_s": [0.5, 0.5, 0.5], "answer": [[1]], "differs": differs},
    ]
    loaded = {"rows": 1000, "seconds": 2.0, "rows_per_s": 500.0, "by": "hand", "size_bytes": 200_000}
    about = {"label": label, "workload": "air-traffic", "loaded": loaded}
    return about | {"analysis": {"cold": "started anew", "queries": queries}}


def scan(label, layout, columns):
    """Return a trial of whole scans: one reads a column, one all of them."""
    scanned = trial(label) | {"workload": f"wide-rows?layout={layout}"}
    for query, count in zip(scanned["analysis"]["queries"], (1, columns), strict=True):
        query["columns"] = count
    return scanned


def printed(trials):
    out = StringIO()
    print_analyses(trials, Console(file=out, width=150))
    return out.getvalue()


def test_only_analytic_trials_are_analysed():
    analytic = trial("a")
    assert analysed([analytic, {"label": "b", "analysis": None}, {"label": "c"}]) == [analytic]


def test_repetitions_are_one_with_all_hot_times_and_the_limit_of_most():
    def limited(limit):
        verdict = Verdict(limit, f"by {limit}", evidence=(), runner_up=None, confidence="high")
        return trial("a") | {"state": "complete", "embedded": False, "query_verdicts": {"q1": verdict}}

    first, second, third = limited("disk"), limited("lock"), limited("lock")
    second["analysis"]["queries"][0] |= {"cold_s": 9.0, "hot_s": [0.05, 0.4, 0.4]}
    second["loaded"] |= {"seconds": 3.0}
    third["loaded"] |= {"seconds": 4.0}
    (merged,) = analysed([first, second, third])
    q0, q1 = merged["analysis"]["queries"]
    assert (q0["cold_s"], min(q0["hot_s"]), len(q0["hot_s"])) == (1.25, 0.05, 9)
    assert (merged["loaded"]["seconds"], merged["state"], q1["differs"]) == (3.0, "complete", None)
    assert merged["query_verdicts"]["q1"].sentence == "by lock"
    assert "then three times hot, in each repetition." in printed([merged])
    assert sentence([merged]).endswith("These are of 3 repetitions each, not a ranking.")


def test_what_cold_means_is_said_by_store_if_it_differs():
    attached = trial("mysql://h/d")
    attached["analysis"]["cold"] = "as it was"
    assert how_asked([trial("a"), trial("b")]) == "Cold: started anew; then three times hot."
    said = how_asked([trial("a"), trial("b"), attached])
    assert said == "Cold: a, b: started anew; mysql://h/d: as it was; then three times hot."


def test_a_failed_repetition_and_a_differing_answer_stay_seen():
    failed = trial("a", differs="row 1") | {"state": "failed"}
    failed["analysis"]["unanswered"] = [{"name": "q2", "what": "w", "sql": "s", "reason": "too late"}]
    (merged,) = analysed([trial("a") | {"state": "complete"}, failed])
    assert merged["state"] == "failed" and "row 1" in answers([merged]) and "q2: too late" in answers([merged])


def test_each_query_has_cold_best_and_median_of_each_store():
    text = printed([trial("a"), trial("b")])
    assert next(line for line in text.splitlines() if line.strip().startswith("q0")).split() == [
        "q0",
        *["1.250", "0.100", "0.200"] * 2,
    ]
    assert "Cold: started anew" in text


def test_a_query_that_was_not_reached_has_no_times():
    cut = trial("b")
    del cut["analysis"]["queries"][1]
    assert next(line for line in printed([trial("a"), cut]).splitlines() if line.strip().startswith("q1")).split() == [
        *("q1", "2.500", "0.500", "0.500"),
        *"–––",
    ]


def test_loading_says_how_fast_and_how_large():
    assert loading(trial("a")) == (
        "a: 1,000 rows loaded in 2.0 s (500 rows/s) by hand; 0.2 MB on disk, 200 bytes a row"
    )


def verdict(limit):
    return Verdict(limit=limit, sentence="", evidence=(), runner_up=None, confidence="medium")


def test_what_limited_the_queries_is_said_by_limit():
    limited = trial("a") | {"embedded": False, "query_verdicts": {"q0": verdict("server-cpu")}}
    assert limits(limited) == "a, hot queries limited by server CPU: q0; unknown: q1"
    assert limits(limited | {"embedded": True}) == "a, hot queries limited by CPU: q0; unknown: q1"
    both = limited | {"query_verdicts": {"q0": verdict("disk"), "q1": verdict("disk")}}
    assert limits(both) == "a, hot queries limited by disk: q0, q1"
    assert "  a, hot queries limited by disk: q0, q1" in printed([both, trial("b")]).splitlines()


def test_of_queries_without_a_verdict_nothing_is_said():
    assert limits(trial("a")) is None
    assert "limited by" not in printed([trial("a")])


def test_differences_are_said():
    assert answers([trial("a"), trial("b")]) == "All stores gave the same answers."
    assert answers([trial("a")]) == "Every answer was the same each time."
    assert answers([trial("a"), trial("b", "row 1: 2 against 1 of a")]) == (
        "Answers DIFFER: b, q1: row 1: 2 against 1 of a"
    )


def test_stores_that_do_not_fit_beside_each_other_stand_below():
    out = StringIO()
    print_analyses([trial("one"), trial("two"), trial("three")], Console(file=out, width=70))
    assert [line.split() for line in out.getvalue().splitlines() if line.strip().startswith("q0")] == [
        ["q0", *["1.250", "0.100", "0.200"] * 2],
        ["q0", "1.250", "0.100", "0.200"],
    ]


def test_scans_are_shown_as_speeds_and_time_per_column():
    scanned = scan("a", "tinyints", 100)
    assert name(scanned) == "a tinyints"
    # Half a second for 1,000 rows of 100 columns.
    assert column_ns(scanned) == 5000
    headings, row = scans([scanned])
    assert headings == [
        *("system", "table", "bytes\na row", "loaded\nrows/s"),
        *("q0\nM rows/s", "q1\nM rows/s", "ns a\ncolumn"),
    ]
    assert row == ["a", "tinyints", "200", "500", "0.01", "0.002", "5,000.0"]
    assert [line.split() for line in printed([scanned]).splitlines() if line.strip().startswith("a  ")] == [row]


def plotted(*trials):
    return figures(
        [
            Series(number, t["label"], t["workload"], name(t), "D2", "", [t], Look(hue), t["label"])
            for number, t in enumerate(trials)
            for hue in (sorted({trial["label"] for trial in trials}).index(t["label"]),)
        ]
    )


def test_a_plot_has_the_median_of_every_query_of_every_store():
    plots = plotted(trial("a"), trial("b"))
    assert plots.keys() == {"queries"}
    first, other = plots["queries"]["data"]
    assert (first["x"], first["y"]) == (["q0", "q1"], [0.2, 0.5])
    assert first["marker"] != other["marker"]


def test_a_plot_of_scans_has_a_store_in_one_colour_by_layout():
    plots = plotted(scan("a", "tinyint", 1), scan("a", "tinyints", 100), scan("b", "tinyint", 1))
    assert plots.keys() == {"scans"}
    first, two, three = plots["scans"]["data"]
    assert first["marker"] == two["marker"] != three["marker"]
    assert [bars["showlegend"] for bars in (first, two, three)] == [True, False, True]
    assert (first["x"], two["x"], two["y"]) == (["tinyint"], ["tinyints"], [5000])


def test_other_runs_have_no_such_plot():
    assert plotted({"label": "a", "workload": "game", "analysis": None}) == {}


def test_the_sentence_names_what_each_store_took():
    done = [
        dict(trial, state="complete") for trial in (trial("b"), trial("a", "other rows"), scan("c", "tinyints", 100))
    ]
    assert sentence(done[:1]) == "All 2 queries, hot: b 0.7 s. This is one observation, not a ranking."
    assert sentence(done[:2]) == sentence(done[:1])
    assert "if every column is read: c 5,000 ns." in sentence(done[2:])
    assert sentence(done[1:2]).startswith("No store answered every query")


def test_a_query_without_an_answer_is_marked_in_its_place():
    lacking = trial("b")
    gone = lacking["analysis"]["queries"].pop(0)
    lacking["analysis"]["unanswered"] = [{"name": gone["name"], "reason": "b: q0: no answer within 1 s"}]
    text = printed([lacking, trial("a")])
    rows = [line.split() for line in text.splitlines() if line.strip().startswith(("q0", "q1"))]
    assert rows[0] == ["q0", "no", "answer", "1.250", "0.100", "0.200"] and rows[1][0] == "q1"
    assert "All stores gave the same answers. Without an answer: b, q0: b: q0: no answer within 1 s." in " ".join(
        text.split()
    )
