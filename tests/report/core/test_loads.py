"""Loads have different names if they differ, and no time stands for another."""

from dbdyno.report.core.loads import at, load_of, loads, time_label, time_name, times_us


def trial(clients, rate=None):
    words = f"{rate:,}/s" if rate else ""
    return {"clients": clients, "rate": {"per_s": rate, "words": words} if rate else None}


RAMP = {"clients": 4, "rate": {"ramp": [10, 500], "seconds": 5, "words": "10/s to 500/s in 5 s"}}


def test_loads_rise_by_clients_then_by_rate():
    load_order = loads([trial(4, 2000), trial(1), trial(4, 501), trial(4, 2000), trial(16, 10), RAMP])
    assert [load.label(True) for load in load_order] == [
        "1",
        "10/s to 500/s in 5 s, 4 clients",
        "501/s, 4 clients",
        "2,000/s, 4 clients",
        "10/s, 16 clients",
    ]
    assert load_of(trial(4, 500)).label(False) == "500/s"


def test_where_there_is_an_open_loop_response_times_are_shown():
    assert time_name([trial(1)]) == "service_time_us"
    assert time_name([trial(1), trial(1, 10)]) == "response_time_us"
    assert time_label([trial(1), trial(1)]) == "service time, closed loop, N = 1"
    assert time_label([trial(4), trial(1)]) == "service time, closed loop, N = 1, 4"
    assert time_label([trial(n) for n in (1, 2, 4, 8)]) == "service time, closed loop, N = 1 to 8"
    assert time_label([trial(1), trial(1, 1000)]) == "response time, open loop, 1,000/s"
    assert time_label([trial(1, rate) for rate in (1, 2, 3, 4)]) == "response time, open loop, 4 rates"


def test_a_closed_loop_has_no_response_time():
    closed = {"service_time_us": {"p99": 5.0}}
    assert times_us(closed, "service_time_us")["p99"] == 5.0
    assert times_us(closed, "response_time_us")["p99"] is None


def test_where_a_figure_was_taken():
    assert at(trial(1)) == "at 1 client"
    assert at(trial(2, 500)) == "at 2 clients, offered 500/s"
