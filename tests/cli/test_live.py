"""The display of a run: lines that stay, a display that follows, or only what went wrong."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from dbdyno.cli.console import make_console
from dbdyno.cli.live import Display, Plain, Quiet, listener_for
from dbdyno.cli.printable import PrintableStream
from dbdyno.cli.tolerant_output import outputs_may_end
from dbdyno.conduct.listener import Outcome
from dbdyno.experiment.rate import Rate
from dbdyno.experiment.system_spec import SystemSpec, parse_system
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


def test_an_owner_is_warned_even_in_silence(capsys):
    Quiet().owner_is_warned("redis://h", "it evicts keys")
    assert capsys.readouterr().err == "dbdyno: redis://h: it evicts keys\n"
    console = Console(file=io.StringIO(), width=80)
    Plain(console).owner_is_warned("redis://h", "it evicts keys")
    assert console.file.getvalue() == "redis://h: it evicts keys\n"


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
        "not observed: pressure: the kernel keeps none",
        "[ 1/12] redis  game  8 clients      20,000/s  floor 42%, longest stall 3 s  2 errors (2 timeout)",
        "[ 2/12] redis  game  8 clients  failed: it broke",
    ]


def step(rate, value_us, why_not=None, confirms=False):
    judged = {"confirms": confirms, "why_not": why_not, "holds": why_not is None}
    return {"trial": "001", "rate_per_s": rate, "statistic": "p99", "value_us": value_us, **judged}


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


def drawn(tell, width=160, clock=lambda: 0.0):
    """Return each state of the display as its lines, and what stays on the terminal."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    states = []
    with Display(console, clock) as display:
        update = display._live.update
        display._live.update = lambda text, refresh: (
            states.append(text.plain.split("\n")),
            update(text, refresh=refresh),
        )
        tell(display)
    return states, console.file.getvalue()


def test_of_an_open_loop_the_display_shows_what_is_offered_and_response_times():
    times = {"response_time": {"count": 100, "sum_ns": 0, "min_ns": 200, "max_ns": 200, "buckets": [200, 100]}}
    transactions = {**INTERVAL["transactions"], **times, "scheduled": 30_000}

    def tell(display):
        display.run_begins("runs/x", 1, 10)
        display.trial_begins(replace(TRIAL, rate=Rate("constant", (30_000,)), pipeline=16, network_delay_us=200))
        display.record_came(INTERVAL | {"transactions": transactions})

    *_, (_, doing, second, figures) = drawn(tell)[0]
    assert doing == "redis  game  8 clients  pipeline 16  200 µs away  30,000/s"
    assert second == "measuring, 4 of 10 s"
    assert figures.startswith("20,000/s of 30,000 offered  p99 –  2 errors (timeout)  █")


@pytest.mark.parametrize(
    ("more", "progress"),
    [
        ({"rows_per_s": 250_000.0, "left_s": 61.6}, "load 500,000 of 16,000,000 rows  250,000/s  1 min 2 s left"),
        ({"rows_per_s": 250_000.0, "left_s": 4.4}, "load 500,000 of 16,000,000 rows  250,000/s  4 s left"),
        ({"rows_per_s": 0.0, "left_s": None}, "load 500,000 of 16,000,000 rows"),
        ({}, "load 500,000 of 16,000,000 rows"),
    ],
)
def test_of_a_load_the_display_shows_how_fast_it_goes_and_how_long_yet(more, progress):
    record = {"record": "progress", "phase": "load", "done": 500_000, "total": 16_000_000, "unit": "rows"}

    def tell(display):
        display.preparation_begins(Preparation("01", SystemSpec("fake", label="fake"), workload("game"), 1, (TRIAL,)))
        display.record_came(record | more)

    assert drawn(tell)[0][-1][1:] == ["fake", progress]


def test_on_a_terminal_one_display_follows_the_run_and_a_finished_trial_leaves_nothing():
    def tell(display):
        tell_of_a_trial(display, Outcome(TRIAL, "complete", None, 40_000, 2.0, {}, STILL))
        display.trial_ended(Outcome(TRIAL, "failed", "it broke", 0, 0.0, {}))

    states, out = drawn(tell)
    assert ["load 10 of 20 rows"] in [state[2:] for state in states]
    assert ["measuring, 4 of 10 s", "20,000/s  p99 500 µs  2 errors (timeout)  █"] in [state[2:] for state in states]
    assert states[-1][0].startswith("trial 3 of 12  ███░░░")
    assert "lmdb is left out: not there" in out and "[ 2/12] redis  game  8 clients  failed: it broke" in out
    assert "floor" not in out


@pytest.mark.parametrize("kind", ["dumb", "pipe"])
def test_without_a_cursor_to_move_lines_stay(kind, monkeypatch):
    monkeypatch.setenv("TERM", "dumb" if kind == "dumb" else "xterm")
    with listener_for(screen(terminal=kind == "dumb"), quiet=False) as listener:
        assert type(listener) is Plain


def test_the_display_moves_the_cursor_of_a_protected_output(monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    monkeypatch.setattr("sys.stdout", PrintableStream(terminal))
    with outputs_may_end(), Display(make_console(force_terminal=True, width=80)) as display:
        display.run_begins("runs/x", 1, 10)
        display.trial_begins(TRIAL)
        display.system_is_skipped("a\x1b[2Jb", "not there")
        display.record_came(INTERVAL)
    said = terminal.buffer.getvalue().decode()
    assert "\x1b[2K" in said and "a␛[2Jb" in said and said.count("␛") == 1


def test_time_left_goes_by_the_trials_before():
    now = [0.0]

    def tell(display):
        display.run_begins("runs/x", 4, 10)
        display.trial_begins(TRIAL)
        display.record_came(INTERVAL | {"second": 4})
        now[0] = 20.0
        display.trial_ended(Outcome(TRIAL, "complete", None, 1, 1.0, {}))
        now[0] = 25.0
        display.trial_begins(TRIAL)

    states = drawn(tell, clock=lambda: now[0])[0]
    assert [state[0].split("  ")[-1] for state in states] == [
        "40 s left",
        "40 s left",
        "35 s left",
        *["1 min 0 s left"],
        "1 min 15 s left",
    ]
    assert [state[0].split("  ")[2] for state in states] == ["0%", "0%", "12%", "25%", "25%"]


def test_throughput_is_a_line_of_blocks_and_errors_are_those_of_the_second():
    def tell(display):
        display.run_begins("runs/x", 1, 4)
        display.trial_begins(TRIAL)
        for second, completed in enumerate((20_000, 0, 10_000)):
            counted = INTERVAL["transactions"] | {"completed": completed}
            errors = {"timeout": 2} if second == 1 else {}
            interval = {"second": second, "warmup": second == 0, "transactions": counted, "errors": errors}
            display.record_came(INTERVAL | interval)

    warm, broken, after = (state[2:] for state in drawn(tell)[0][-3:])
    assert warm == ["warm-up, 1 of 4 s", "20,000/s  p99 500 µs  no errors  █"]
    assert broken[1] == "0/s  p99 500 µs  2 errors (timeout)  █▁"
    assert after[1] == "10,000/s  p99 500 µs  no errors, 2 so far  █▁▅"


@pytest.mark.parametrize("width", [20, 40, 80])
def test_the_display_fits_and_drops_whole_parts(width):
    long = replace(TRIAL, system=replace(SYSTEM, label="mariadb innodb_flush_log_at_trx_commit=1 sync_binlog=1"))

    def tell(display):
        display.run_begins("runs/x", 12, 100)
        display.trial_begins(long)
        for second in range(100):
            display.record_came(INTERVAL | {"second": second})

    states = drawn(tell, width)[0]
    assert all(len(line) < width for state in states for line in state)
    assert states[-1][0].startswith("trial 1 of 12") and states[-1][3].startswith("20,000/s")
    assert ("█" * 8 in states[-1][3]) == (width == 80)


def test_a_search_shows_its_last_step_alone():
    def tell(display):
        display.run_begins("runs/x", 1, 10)
        display.search_begins(replace(TRIAL, step=0), "p99 < 10ms")
        display.step_ended(step(12_000, 8_100))
        display.search_ended("redis: 12,000/s is it.")

    states, out = drawn(tell)
    assert states[-1][1:] == [
        "redis  game  8 clients  searching for p99 < 10ms",
        "    12,000/s: p99 8.1 ms holds",
    ]
    assert "left" not in states[-1][0] and "is it" not in out


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
    listener.trials_are_added(4, "2 cells are not precise enough yet")
    listener.trials_are_added(2, "one undecided comparison")
    assert console.file.getvalue().splitlines()[1:] == [
        "2 cells are not precise enough yet: 4 more trials",
        "one undecided comparison: 2 more trials",
    ]
    assert listener.position(TRIAL, 1).startswith("[ 1/16]")


def test_starting_is_said_once_for_a_configuration():
    console = screen(terminal=False)
    listener = Plain(console)
    for repeat in (1, 2, 3):
        listener.preparation_begins(Preparation(f"0{repeat}-redis", SYSTEM, workload("game"), repeat, (TRIAL,)))
    attached = replace(parse_system("redis://h"), label="redis")
    listener.preparation_begins(Preparation("01-redis", attached, workload("game"), 1, (TRIAL,)))
    assert console.file.getvalue().splitlines() == ["redis: starting and loading", "redis: loading"]


def test_what_became_of_a_limit_is_said():
    console = screen(terminal=False)
    with listener_for(console, quiet=False) as listener:
        listener.limit_confirmed("Limited by the disk (confidence high): …")
    assert "    Limited by the disk (confidence high): …\n" in console.file.getvalue()
