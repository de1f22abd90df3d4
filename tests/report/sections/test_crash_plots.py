"""The bars of what stores lost in a crash."""

from dbdyno.report.core.series import series_of
from dbdyno.report.sections.crash_plots import figures


def trial(label, kind, acknowledged, missing, read_s, verdict="kept"):
    crash = {"kind": kind, "acknowledged": acknowledged, "missing": missing, "first_read_s": read_s}
    about = {
        "label": label,
        "system": label,
        "workload": f"durability?crash={kind}",
        "crash": crash | {"verdict": verdict},
    }
    return about | {"clients": 8, "pipeline": 1, "durability": "D2", "durability_reason": "", "operations": {}}


def drawn(*trials):
    return figures(series_of({"trials": list(trials)}))


def bars(figure):
    return [trace for trace in figure["data"] if trace["type"] == "bar"]


def test_a_system_has_a_bar_for_each_kind_of_crash_beside_one_another():
    plots = drawn(trial("a<b", "power-cut", 200, 50, 1.25), trial("a<b", "kill", 200, 0, 0.5))
    kill, cut = bars(plots["crash-missing"])
    assert (kill["x"], kill["text"], kill["name"]) == ([0], ["kill: 0 of 200"], "kill")
    assert (cut["x"], cut["text"], cut["name"]) == ([25], ["power-cut: 50 of 200"], "power-cut")
    assert kill["y"] < cut["y"]
    assert kill["marker"] != cut["marker"]
    assert [bar["text"] for bar in bars(plots["crash-read"])] == [["kill: 0.5 s"], ["power-cut: 1.25 s"]]
    assert plots["crash-missing"]["data"][-1]["text"] == ["a&lt;b"]
    assert plots["crash-missing"]["layout"]["xaxis"]["range"] == [0, 100]


def test_each_system_adds_its_height_and_each_kind_stands_in_the_legend_once():
    alone = drawn(trial("a", "kill", 200, 0, 0.5))["crash-missing"]
    both = drawn(trial("a", "kill", 200, 0, 0.5), trial("b", "kill", 200, 0, 0.5))["crash-missing"]
    assert both["layout"]["height"] > alone["layout"]["height"]
    assert [bar["showlegend"] for bar in bars(both)] == [True, False]
    assert [bar["meta"]["s"] for bar in bars(both)] == [0, 1]


def test_of_repetitions_the_worst_is_shown_and_a_broken_promise_is_named():
    first, second = trial("a", "kill", 1000, 0, 2.0), trial("a", "kill", 800, 8, 1.0, "broken")
    (lost,) = bars(drawn(first, second)["crash-missing"])
    (read,) = bars(drawn(first, second)["crash-read"])
    assert (lost["x"], lost["text"]) == ([1], ["8 of 800, BROKEN"])
    assert read["text"] == ["2.00 s"]


def test_what_is_not_known_has_no_bar_and_other_runs_no_plot():
    assert drawn(trial("a", "kill", 0, 0, None)) == {}
    assert drawn(trial("a", "kill", 0, 0, None) | {"crash": None}) == {}
    assert len(bars(drawn(trial("a", "kill", 9, 0, None), trial("b", "kill", 0, 0, 1.0))["crash-read"])) == 1
