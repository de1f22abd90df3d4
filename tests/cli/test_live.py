"""What is shown of a run: lines that stay, a line that follows, or only what went wrong."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from dbdyno.cli.live import LiveLine, Plain, Quiet, listener_for
from dbdyno.conduct.listener import Outcome, Step
from dbdyno.experiment.rate import Rate
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.experiment.trials import Preparation, Trial
from dbdyno.stats.stability import Stability
from helpers import workload

SYSTEM = SystemSpec("redis", label="redis")
STILL = Stability(20, 3, 0.421, 4, 3, 0.2, None)
TRIAL = Trial("001-redis-game-c8", SYSTEM, workload("game"), 8, 1)
INTERVAL = {
    "record": "interval",
    "second": 3,
    "warmup": False,
    "seconds": 1.0,
    "transactions": {
        "completed": 20_000,
        "failed": 2,
        "service_time": {
            "count": 20_000,
            "sum_ns": 10**10,
            "min_ns": 500_000,
            "max_ns": 500_000,
            "buckets": [128 * 11 + (500_000 >> 11), 20_000],
        },
    },
    "errors": {"timeout": 2},
}


def screen(terminal):
    return Console(file=io.StringIO(), force_terminal=terminal, width=160, color_system=None)


def tell_of_a_trial(listener, outcome):
    listener.run_begins("runs/x", 12, 10)
    listener.system_is_skipped("lmdb", "not there")
    listener.preparation_begins(Preparation("01-redis", SYSTEM, workload("game"), 1, (TRIAL,)))
    listener.trial_begins(TRIAL)
    listener.not_seen("pressure", "the kernel keeps none")
    listener.record_came({"record": "progress", "phase": "load", "done": 10, "total": 20, "unit": "rows"})
    listener.record_came(INTERVAL)
    listener.record_came({"record": "end", "status": "complete", "reason": None})
    listener.trial_ended(outcome)


def test_where_the_output_is_no_terminal_lines_stay():
    console = screen(terminal=False)
    with listener_for(console, quiet=False) as listener:
        assert type(listener) is Plain
        tell_of_a_trial(listener, Outcome(TRIAL, "complete", None, 40_000, 2.0, {"timeout": 2}, STILL))
        listener.trial_ended(Outcome(TRIAL, "failed", "it broke", 0, 0.0, {}))
    lines = console.file.getvalue().splitlines()
    assert lines == [
        "12 trials, recorded in runs/x",
        "lmdb is left out: not there",
        "redis: starting and loading",
        "not seen: pressure: the kernel keeps none",
        "[ 1/12] redis  game  8 clients      20,000/s  floor 42%, longest stall 3 s  2 errors (2 timeout)",
        "[ 2/12] redis  game  8 clients  failed: it broke",
    ]


def step(rate, value_us, why_not=None, confirms=False):
    return Step("001", rate, "p99", value_us, rate, rate, confirms, why_not)


def test_each_step_of_a_search_is_a_line_and_its_end_a_sentence():
    console = screen(terminal=False)
    listener = Plain(console)
    first = replace(TRIAL, step=0)
    listener.run_begins("runs/x", 1, 10)
    listener.search_begins(first, "p99 < 10ms")
    listener.trial_ended(Outcome(first, "complete", None, 30_000, 2.0, {}, STILL))
    listener.trial_ended(
        Outcome(replace(TRIAL, step=1, rate=Rate("constant", (12_000,))), "complete", None, 1, 1.0, {})
    )
    listener.step_ended(step(12_000, 8_100))
    listener.step_ended(step(15_000, 2_345_000, "not below the limit"))
    listener.step_ended(step(12.5, None, "no transaction was completed", confirms=True))
    listener.search_ended("redis: 12,000/s is it.")
    assert console.file.getvalue().splitlines()[1:] == [
        "[1/1] redis  game  8 clients  searching for the highest rate with p99 < 10ms",
        "        15,000/s  floor 42%, longest stall 3 s in a closed loop",
        "        12,000/s: p99 8.1 ms holds",
        "        15,000/s: p99 2.35 s does not hold: not below the limit",
        "          12.5/s: nothing completed does not hold: no transaction was completed (confirming)",
        "    redis: 12,000/s is it.",
    ]


def test_of_an_open_loop_the_line_shows_what_is_offered_and_response_times():
    console = screen(terminal=True)
    times = {"response_time": {"count": 100, "sum_ns": 0, "min_ns": 200, "max_ns": 200, "buckets": [200, 100]}}
    transactions = {**INTERVAL["transactions"], **times, "scheduled": 30_000}
    with listener_for(console, quiet=False) as listener:
        listener.run_begins("runs/x", 1, 10)
        listener.trial_begins(replace(TRIAL, rate=Rate("constant", (30_000,)), pipeline=16, network_delay_us=200))
        listener.record_came(INTERVAL | {"transactions": transactions})
    shown = console.file.getvalue()
    assert (
        "redis  game  8 clients  pipeline 16  200 µs away  30,000/s  4 of 10 s  20,000/s of 30,000 offered  longest"
        in shown
    )


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({"rows_per_s": 250_000.0, "left_s": 61.6}, "fake: load 500,000 of 16,000,000 rows  250,000/s  1 min 2 s left"),
        ({"rows_per_s": 250_000.0, "left_s": 4.4}, "fake: load 500,000 of 16,000,000 rows  250,000/s  4 s left"),
        ({"rows_per_s": 0.0, "left_s": None}, "fake: load 500,000 of 16,000,000 rows\r"),
        ({}, "fake: load 500,000 of 16,000,000 rows\r"),
    ],
)
def test_of_a_load_the_line_shows_how_fast_it_goes_and_how_long_yet(more, shown):
    console = screen(terminal=True)
    record = {"record": "progress", "phase": "load", "done": 500_000, "total": 16_000_000, "unit": "rows"}
    with listener_for(console, quiet=False) as listener:
        listener.preparation_begins(Preparation("01", SystemSpec("fake", label="fake"), workload("game"), 1, (TRIAL,)))
        listener.record_came(record | more)
    assert shown in console.file.getvalue()


def test_on_a_terminal_a_line_follows_the_trial():
    console = screen(terminal=True)
    with listener_for(console, quiet=False) as listener:
        assert type(listener) is LiveLine
        tell_of_a_trial(listener, Outcome(TRIAL, "complete", None, 40_000, 2.0, {}, STILL))
    shown = console.file.getvalue()
    assert "load 10 of 20 rows" in shown
    assert "4 of 10 s  20,000/s  longest stall 0 s  p99 0.50 ms  2 errors (2 timeout)" in shown
    assert "[ 1/12] redis  game  8 clients      20,000/s  floor 42%, longest stall 3 s  no errors" in shown


def test_the_live_line_knows_the_floor_and_the_stalls_of_what_was_measured():
    console = screen(terminal=True)
    with listener_for(console, quiet=False) as listener:
        listener.run_begins("runs/x", 1, 22)
        for trial in (TRIAL, TRIAL):
            listener.trial_begins(trial)
            for second in range(-2, 20):
                completed = 0 if second < 0 or second in (3, 4) else 20_000
                counted = INTERVAL["transactions"] | {"completed": completed}
                listener.record_came(INTERVAL | {"second": second + 2, "warmup": second < 0, "transactions": counted})
    shown = console.file.getvalue()
    assert "warm-up, 2 of 22 s  0/s  p99" in shown
    assert "22 of 22 s  20,000/s  floor 0%, longest stall 2 s  p99" in shown
    assert "3 of 22 s  20,000/s  longest stall 0 s" in shown.rpartition("2 of 22 s  0/s")[2]


@pytest.mark.parametrize(
    ("state", "said"), [("failed", "dbdyno: 001-redis-game-c8 failed: it broke\n"), ("complete", "")]
)
def test_quiet_says_only_what_went_wrong(capsys, state, said):
    with listener_for(screen(terminal=True), quiet=True) as listener:
        assert type(listener) is Quiet
        tell_of_a_trial(listener, Outcome(TRIAL, state, "it broke", 0, 0.0, {}))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", said)


def test_a_password_in_a_reason_is_not_shown():
    console = screen(terminal=False)
    Plain(console).trial_ended(Outcome(TRIAL, "failed", "mysql://u:hidden@h/d is gone", 0, 0.0, {}))
    assert "hidden" not in console.file.getvalue()


def test_trials_that_are_added_are_counted_and_said():
    console = screen(terminal=False)
    listener = Plain(console)
    listener.run_begins("runs/x", 10, 10)
    listener.trials_are_added(4, 2)
    listener.trials_are_added(2, 1)
    assert console.file.getvalue().splitlines()[1:] == [
        "2 cells are not known as exactly as wanted: 4 more trials",
        "one cell is not known as exactly as wanted: 2 more trials",
    ]
    assert listener.place(TRIAL, 1).startswith("[ 1/16]")


def test_starting_is_said_once_for_a_configuration():
    console = screen(terminal=False)
    listener = Plain(console)
    for repeat in (1, 2, 3):
        listener.preparation_begins(Preparation(f"0{repeat}-redis", SYSTEM, workload("game"), repeat, (TRIAL,)))
    assert console.file.getvalue().splitlines() == ["redis: starting and loading"]


def test_what_became_of_a_limit_is_said():
    console = screen(terminal=False)
    with listener_for(console, quiet=False) as listener:
        listener.limit_confirmed("Limited by the disk (confidence high): …")
    assert "    Limited by the disk (confidence high): …\n" in console.file.getvalue()
