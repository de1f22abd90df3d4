"""The end of a run fits a screen: the answer, the table, what to be careful of, and where the rest is."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from dbdyno.report.document import document
from dbdyno.report.summary import Places, print_document_summary
from dbdyno.results.conclusions import NextStep
from dbdyno.results.read import read_run
from dbdyno.verdict.judge import judge_folder
from synthetic_run import SYSTEMS, write_run

PLACES = Places("last", "runs/x/report.html")


def printed(run_document, width=80, places=PLACES):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_document_summary(run_document, places, console)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    """Five systems at five loads."""
    faults = {("redis", 16): "client-limited", ("mariadb", 8): "stall"}
    return document(read_run(write_run(tmp_path_factory.mktemp("runs") / "five", seconds=6, faults=faults)))


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_five_systems_at_five_loads_take_about_twenty_five_lines(five, width):
    lines = printed(five, width).splitlines()
    assert max(map(len, lines)) <= width
    # The name of the cache in front of a store stands above its row on a narrow terminal, so all names do.
    assert len(lines) <= {60: 36, 80: 27}.get(width, 25)


def test_with_short_names_they_take_at_most_twenty_five_at_80_columns(five):
    trials = [dict(trial, label=trial["label"].split("-aside(")[0]) for trial in five["trials"]]
    run_document = dict(five, trials=trials)
    lines = printed(run_document).splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 80
    assert lines[0] == "quickstart — 5 systems × 5 loads, 25 trials, 1 min 40 s"
    begin = next(number for number, line in enumerate(lines) if line.startswith("  lmdb "))
    headings = " ".join(lines[2:begin])
    assert all(word in headings.split() for word in ("transactions/s", "client", "2", "4", "8", "16", "p99", "limited"))
    names = [line.split()[0] for line in lines[begin : begin + 5]]
    assert names == ["lmdb", "redis", "sqlite", "mariadb", "cache"]
    redis = lines[begin + 1].split()
    assert redis[1] == "D0" and redis[6].startswith("≥") and redis[7:9][1] in ("ms", "µs")


def test_its_end_says_where_the_rest_is(five):
    said = "  report   runs/x/report.html\n  details  dbdyno show last --details\n  limits   dbdyno explain last\n"
    assert said in printed(five)
    assert "  report " not in printed(five, places=Places("'a b'", None))


def test_what_to_try_next_is_that_of_the_leader(five):
    steps = (NextStep("client and server share the CPUs", "dbdyno run quickstart --set cpus.client=[0]"),)
    leading = five["headline"]["trials"][five["headline"]["leader"]]
    trials = [
        dict(trial, verdict=replace(trial["verdict"], next=steps)) if trial["trial"] == leading else trial
        for trial in five["trials"]
    ]
    assert printed(dict(five, trials=trials)).splitlines()[-2:] == [
        "  next     dbdyno run quickstart --set cpus.client=[0]",
        "           client and server share the CPUs",
    ]


def test_at_most_three_cautions_and_how_many_more(run_document):
    lines = printed(run_document, 100).splitlines()
    end = next(number for number, line in enumerate(lines) if re.search(r"\d+ more: dbdyno show last --details", line))
    begin = next(number for number, line in enumerate(lines) if "One trial per cell" in line)
    assert 3 <= end - begin - 1 <= 5 and lines[end + 1] == ""


def test_a_caution_is_printed_whole_or_counted(run_document):
    warnings = ["the first " + "takes two lines " * 7, "the second " + "takes two lines " * 7, "the third has no room"]
    trial = dict(run_document["trials"][0], warnings=warnings, mismatches=0, errors=0)
    quiet = dict(run_document, trials=[trial], state="complete", skipped=[], left_out=[])
    text = " ".join(printed(dict(quiet, fairness=dict(quiet["fairness"], systems=[]))).split())
    assert "…" not in text and " ".join(warnings[0].split()) in text and "more: dbdyno show last --details" in text


def test_a_message_longer_than_its_room_says_where_it_is_in_full(run_document):
    trial = dict(run_document["trials"][0], mismatches=0, errors=0)
    failed = dict(run_document, trials=[trial], state="failed", reason="a word " * 200, skipped=[], left_out=[])
    lines = printed(dict(failed, fairness=dict(failed["fairness"], systems=[]))).splitlines()
    cut = next(number for number, line in enumerate(lines) if line.endswith(" …"))
    assert lines[cut - 3].startswith("  This run failed: a word") and "dbdyno show last --details" in lines[cut + 1]


def test_what_failed_and_what_is_missing_is_in_its_cell(run_document):
    rows = [line.split() for line in printed(run_document, 160).splitlines()]
    by_name = {row[0]: row for row in rows if len(row) > 4}
    assert by_name["lmdb"][-3:] != [] and "CUT" in " ".join(map(" ".join, rows)) and "FAILED" in by_name["sqlite"]


def test_loads_between_go_first_where_there_is_no_room(tmp_path):
    clients = tuple(2**power for power in range(10))
    run = read_run(write_run(tmp_path / "run", SYSTEMS[:2], clients=clients))
    said = " ".join(printed(document(run), 80).split())
    dropped = re.search(r"Too narrow for: ([\d, ]+)\.", said)[1].split(", ")
    assert dropped == ["2", "8", "32", "64", "128"]


def test_several_workloads_are_told_apart(run_document):
    first = run_document["trials"][0]
    variants = [dict(first, workload=f"batch-get?batch={count}", trial=str(count)) for count in (1, 100)]
    text = printed(dict(run_document, trials=variants), 100)
    assert re.search(r"\n  batch=1 +D1 ", text) and re.search(r"\n  batch=100 +D1 ", text)
    variants.append(dict(variants[0], label="lmdb", workload="game", trial="3"))
    assert re.search(r"\n  lmdb · game +D1 ", printed(dict(run_document, trials=variants), 100))


def test_an_open_loop_shows_times(opened):
    text = printed(opened, 100)
    assert re.search(r"\n  p99, (ms|s)", text) and "behind" in text and "p99 at best" not in text


def test_a_limit_that_is_hardly_sure_has_a_question_mark(tmp_path):
    folder = write_run(tmp_path / "run", SYSTEMS[2:3], clients=(1,))
    (trial,) = (folder / "trials").iterdir()
    judge_folder(trial)
    run_document = document(read_run(folder))
    assert re.search(r" network\n", printed(run_document))
    verdict = replace(run_document["trials"][0]["verdict"], confidence="low")
    assert re.search(
        r" network\?\n", printed(dict(run_document, trials=[dict(run_document["trials"][0], verdict=verdict)]))
    )


def test_a_run_without_a_trial_has_its_reason(run_document):
    nothing = dict(run_document, trials=[], headline=run_document["headline"] | {"sentence": "No trial was completed."})
    assert "No trial was completed." in printed(nothing)


def test_what_a_server_said_is_not_mark_up_and_takes_few_lines(run_document):
    trial = dict(run_document["trials"][0], warnings=["[red]not red[/red] [/] " + "and so on " * 40])
    said = printed(dict(run_document, trials=[trial], state="complete"))
    assert "and so on and so on" not in said or said.count("and so on") < 10
