"""The plots of a trial so far."""

from dbdyno.results.conclusions import Budget
from dbdyno.results.model import Interval
from dbdyno.serve.figures import figures


def second(number, **keys):
    plain = {
        "second": number,
        "warmup": number == 0,
        "seconds": 1.0,
        "connected": 4,
        "completed": 100,
        "failed": 0,
        "p50_ns": 2e6,
        "p95_ns": 2.5e6,
        "p99_ns": 3e6,
        "p999_ns": 3.5e6,
        "max_ns": 4_000_000,
        "errors": {},
        "reads_verified": 0,
        "mismatches": 0,
        "client_cpu_s": 0.1,
        "counters": {},
    }
    return Interval(**(plain | keys))


def test_a_closed_loop_has_no_offered_line():
    plots = figures([second(0), second(1, completed=150, seconds=0.5, errors={"timeout": 2})], 10, None)
    assert plots.keys() == {"throughput", "latency", "errors"}
    (line,) = plots["throughput"]["data"]
    assert (line["x"], line["y"]) == ([0.5, 1.25], [100, 300])
    assert plots["errors"]["data"][0]["y"] == [0, 2]
    assert plots["throughput"]["layout"]["xaxis"]["range"] == [0, 10]
    assert plots["throughput"]["layout"]["shapes"][0]["x1"] == 1


def test_an_open_loop_shows_what_was_offered():
    offered, completed = figures([second(0, scheduled=400)], 1, None)["throughput"]["data"]
    assert (offered["name"], offered["y"], completed["y"]) == ("offered", [400], [100])


def test_latency_is_in_one_unit_and_an_unknown_one_is_a_gap():
    latency = figures([second(0), second(1, p99_ns=None)], 2, None)["latency"]
    assert [(line["name"], line["y"]) for line in latency["data"]] == [("p99", [3000, None]), ("p50", [2000, 2000])]
    assert latency["layout"]["yaxis"]["ticksuffix"] == " µs"


def test_an_empty_second_is_left_out_and_nothing_is_an_empty_plot():
    assert figures([second(0, seconds=0.0)], 3, None)["throughput"]["data"][0]["x"] == []


def test_the_budget_lies_on_the_same_axis():
    plots = figures([second(0)], 7, Budget(4.0, {}, {"server_cpu": [1.0], "unexplained": [3.0]}))
    assert [band["name"] for band in plots["budget"]["data"]] == ["server CPU", "unexplained"]
    assert plots["budget"]["layout"]["xaxis"]["range"] == [0, 7]
