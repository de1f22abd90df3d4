"""The table of query times."""

from io import StringIO

from rich.console import Console

from dbdyno.report.analyses import analysed, answers, loading, print_analyses


def trial(label, differs=None):
    queries = [
        {"name": "q0", "what": "flights", "cold_s": 1.25, "hot_s": [0.3, 0.1, 0.2], "answer": [[1]], "differs": None},
        {"name": "q1", "what": "more", "cold_s": 2.5, "hot_s": [0.5, 0.5, 0.5], "answer": [[1]], "differs": differs},
    ]
    loaded = {"rows": 1000, "seconds": 2.0, "rows_per_s": 500.0, "by": "hand", "size_bytes": 200_000}
    return {"label": label, "loaded": loaded, "analysis": {"cold": "started anew", "queries": queries}}


def printed(trials):
    out = StringIO()
    print_analyses(trials, Console(file=out, width=150))
    return out.getvalue()


def test_only_analytic_trials_are_analysed():
    one = trial("a")
    assert analysed({"trials": [one, {"label": "b", "analysis": None}, {"label": "c"}]}) == [one]


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


def test_differences_are_said():
    assert answers([trial("a"), trial("b")]) == "All stores gave the same answers."
    assert answers([trial("a")]) == "Every answer was the same each time."
    assert answers([trial("a"), trial("b", "row 1: 2 against 1 of a")]) == (
        "Answers DIFFER: b, q1: row 1: 2 against 1 of a"
    )
