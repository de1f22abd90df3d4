"""Groups of clients are shown apart: what they were asked to do, and what they did."""

import io

from rich.console import Console

from dbdyno.report.sections.client_groups import asked_of, print_client_groups

TIMES = {"mean": 900.0, "p50": 800.0, "p95": 4000.0, "p99": 9000.0, "p999": None, "max": 9500.0}
LATE = {name: None if time is None else 10 * time for name, time in TIMES.items()}


def group(name, **more):
    about = {"name": name, "clients": 4, "start_s": 0, "rate": None, "think_time": None, "followed": None}
    return about | {"transactions_per_connection": 0, "throughput_per_s": 1234.5, "service_time_us": TIMES} | more


def trial(*groups, workload="events"):
    return {"label": "store [1]", "workload": workload, "client_groups": list(groups)}


def printed(*trials):
    file = io.StringIO()
    print_client_groups(trials, Console(file=file, width=120))
    return file.getvalue()


def test_what_a_group_was_asked_to_do_is_in_words():
    assert asked_of(group("a")) == "closed loop"
    rated = group("a", rate={"words": "1,000/s"}, start_s=5)
    assert asked_of(rated) == "1,000/s, from second 5 on"
    thinks = group("a", think_time="2,000 µs", transactions_per_connection=1)
    assert asked_of(thinks) == "closed loop, thinks 2,000 µs, 1 transaction per connection"


def test_a_row_has_throughput_and_times_and_marks_a_missed_rate():
    writer = group("writer", rate={"words": "900/s"}, throughput_per_s=640.0, followed=False, response_time_us=LATE)
    text = printed(trial(group("readers"), writer))
    assert "store [1]" in text and "1,234" in text and "640 missed" in text
    assert "9.00 ms" in text and "90.0 ms" in text


def test_workloads_are_named_if_there_are_several_and_nothing_is_printed_without_groups():
    assert "events?rate=5" in printed(trial(group("a")), trial(group("a"), workload="events?rate=5"))
    assert "events" not in printed(trial(group("a")))
    assert printed({"label": "x", "workload": "events"}) == ""
