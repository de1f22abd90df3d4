"""The details fit their terminal, section by section, and mark what must not be used."""

import io
import re

import pytest
from rich.console import Console

from dbdyno.report.cautions import cautions
from dbdyno.report.details import print_details, print_document
from dbdyno.report.headline import headline


def printed(run_document, width):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_document(run_document, console)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_it_fits(run_document, width):
    text = printed(run_document, width)
    assert max(map(len, text.splitlines())) <= width
    assert ("Too narrow for: p95 µs" in text) == (width < 120)
    assert "…" not in "".join(line for line in text.splitlines() if line.startswith("  "))


def test_rows_stand_under_their_headings(run_document):
    lines = printed(run_document, 120).splitlines()
    heading = next(line for line in lines if "clients" in line and "state" in line)
    rows = [line for line in lines if line.rstrip().endswith((" ok", "FAILED", "CUT"))]
    assert len(rows) == 17
    assert len({len(row.rstrip()) for row in rows}) == 1
    edge = heading.index("clients") + len("clients")
    assert {row[:edge].strip() for row in rows} == {"1", "2", "4"} and {row[edge] for row in rows} == {" "}


def test_failures_are_marked_with_their_reasons(run_document):
    text = printed(run_document, 120)
    assert re.search(r"1 WRONG +–  FAILED", text) and "CUT" in text
    assert "mariadb, 4 clients: failed: mariadb was killed (signal 9)" in text
    assert "valkey was skipped: valkey-server is not installed" in text
    assert "No interval, no winner: one trial each." in " ".join(text.split())


def test_every_caution_of_the_summary_is_there(run_document):
    busy = dict(run_document["trials"][0], others_cores=1.5)
    document = dict(run_document, trials=[busy, *run_document["trials"][1:]])
    text = " ".join(printed(document, 120).split())
    sentences = [sentence for sentence, _ in cautions(document) if not sentence.startswith(("≥:", "behind:"))]
    assert any(sentence.startswith("Other processes") for sentence in sentences)
    assert all(" ".join(sentence.split()) in text for sentence in sentences)


def test_repetitions_get_their_column(plain):
    console = Console(file=io.StringIO(), width=120, color_system=None)
    print_details(plain, console)
    assert "repeat" in console.file.getvalue()


def test_what_a_server_said_is_not_mark_up(run_document):
    trial = dict(run_document["trials"][0], state="failed", reason="[red]not red[/red] [/]")
    assert "[red]not red[/red] [/]" in printed(dict(run_document, trials=[trial]), 100)


def test_a_run_without_a_trial(run_document):
    nothing = headline([], None, [])
    assert "No trial was completed" in printed(dict(run_document, trials=[], headline=nothing), 80)


def test_the_fairness_card_stands_below_in_short(run_document):
    text = " ".join(printed(run_document, 120).split())
    assert "· redis: tuned: io-threads = 2 · " in text and "client and server on one host" in text


def test_an_open_loop_has_what_was_offered_and_response_times(opened):
    text = printed(opened, 100)
    assert "offered" in text and "Latencies: response time, open loop, 2,000/s, 20,000/s." in text
    assert "Highest achieved: lmdb, 20,000 transactions/s at 4 clients, offered 20,000/s (" in text
    assert max(map(len, text.splitlines())) <= 100


def test_beside_an_open_loop_a_closed_one_has_no_latency(opened):
    first, *rest = opened["trials"]
    closed = dict(
        first, rate=None, transaction={"name": "request", "service_time_us": first["transaction"]["service_time_us"]}
    )
    closed = {key: value for key, value in closed.items() if key not in ("offered_per_s", "late", "unfinished")}
    row = next(line for line in printed(dict(opened, trials=[closed, *rest]), 120).splitlines() if line.endswith("ok"))
    assert row.split()[:10] == ["4", "–", "–", "–", "2,000", "100%", "–", "–", "–", "–"]


def test_what_limited_a_trial_has_a_column_and_that_of_the_best_one_a_sentence(plain):
    console = Console(file=io.StringIO(), width=120, color_system=None)
    print_details(plain, console)
    text = " ".join(console.file.getvalue().split())
    assert text.count(" network ok") == 4
    assert text.count("2 clients, repetition") == 1 and "Limited by the network (confidence high): " in text


def test_evenness_stands_beside_the_mean(run_document):
    trials = [dict(run_document["trials"][0], stability={"floor": 0.876, "longest_without_completion_s": 5})]
    assert re.search(r"per s +floor +stall ", printed(dict(run_document, trials=trials), 100))
    assert re.search(r" 88% +5 s ", printed(dict(run_document, trials=trials), 100))


def test_after_a_restart_it_is_told_when_it_was_warm(run_document):
    first = run_document["trials"][0]
    warm = dict(first, warm_up={"warm_per_s": 100.0, "seconds": 7, "first_per_s": 1.0, "answered_s": 0.2})
    rising = dict(first, warm_up=warm["warm_up"] | {"seconds": None}, seconds=20.0)
    text = printed(dict(run_document, trials=[warm, rising]), 120)
    assert re.search(r"95% warm", text) and " 7 " in text and "> 20" in text
    assert "95% warm" not in printed(run_document, 120)


def test_a_lower_bound_is_marked(limited):
    text = printed(limited, 100)
    assert text.count("≥") == 2
    assert "≥ limited by the client, or near its ceiling: a lower bound" in " ".join(text.split())
    assert "Highest measured: mariadb, at least" in " ".join(text.split())


def test_the_steady_state_is_told_where_trials_are_long_enough(settled, plain):
    text = printed(settled, 130)
    assert "warm-up 40 s" in text and "Figures begin where the steady state does (warmup = auto)." in text
    console = Console(file=io.StringIO(), width=130, color_system=None)
    print_details(plain, console)
    assert "steady\n" not in console.file.getvalue()
    assert "under 30 s are too short to show" in " ".join(console.file.getvalue().split())
    trial = settled["trials"][0]
    short = dict(trial, steady_state=trial["steady_state"] | {"class": "too short to tell", "applied": False})
    said = " ".join(printed(dict(settled, trials=[short]), 130).split())
    assert "in 1 of 1 trials (too short to tell) after `warmup_seconds`." in said


def test_how_a_sweep_scales_is_said(settled):
    sweep = {"label": "mariadb", "workload": "game", "law": "linear", "words": "each client adds as much"}
    assert "mariadb, game: each client adds as much" in printed(dict(settled, scalability=[sweep]), 130)


def test_columns_that_are_not_there_need_not_be_given_up(plain):
    console = Console(file=io.StringIO(), width=72, color_system=None)
    print_details(plain, console)
    assert "Too narrow for: p95" in console.file.getvalue()


def test_everything_is_there_section_by_section(run_document):
    lines = printed(run_document, 100).splitlines()
    titles = ["Trials", "What limited each system", "Cache", "Be careful", "Host and observation", "Fairness"]
    places = [lines.index(title) for title in (*titles, "Repeat it")]
    assert places == sorted(places) and all(not lines[line_number - 1] for line_number in places)
