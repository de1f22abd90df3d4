"""Latency below capacity: its own table, the first screen's figure, and nothing of it among closed loops."""

import io

import pytest
from rich.console import Console

from dbdyno.report.core.series import series_of, trials_of
from dbdyno.report.details import print_document
from dbdyno.report.document import document
from dbdyno.report.html import render
from dbdyno.report.sections.capacity import HEADINGS, at_shares, p99s, rows, sentence
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

RATES = {2000: 0.5, 20_000: 0.9}


@pytest.fixture(scope="module")
def below(tmp_path_factory):
    """Closed loops of two systems, and open ones of which one system follows the first only."""
    folder = tmp_path_factory.mktemp("runs") / "below"
    run_document = document(read_run(write_run(folder, SYSTEMS[1:3], (8,), 12, repeats=2, rates=(None, *RATES))))
    for trial in run_document["trials"]:
        if rate := trial["rate"]:
            share = RATES[rate["per_s"]]
            trial["rate"] = rate | {"share": share, "words": f"{rate['words']} ({share:.0%} of capacity)"}
    return run_document


def test_each_share_has_its_row(below):
    table = rows(at_shares(below))
    assert {len(row) for row in table} == {len(HEADINGS)} and len(table) == 8
    assert [row[2] for row in table] == ["50%", "50%", "90%", "90%"] * 2
    assert table[1][0] == "lmdb #2" and {row[-1] for row in table} == {"ok", "behind"}


def test_a_store_that_could_not_follow_has_no_latency(below):
    known = p99s(below)
    behind = [by_share[0.9] for by_share in known.values() if by_share[0.9] == "behind"]
    assert behind and all(by_share[0.5].endswith(" ms") for by_share in known.values())
    said = sentence(below)
    assert said.startswith("Latency (p99 of response times) at shares of capacity: lmdb: ")
    assert "behind at 90%" in said


def test_closed_loops_keep_their_own_times_and_places(below):
    assert not any(trial["rate"] for trial in trials_of(series_of(below)))
    console = Console(file=io.StringIO(), width=80, color_system=None)
    print_document(below, console)
    text = console.file.getvalue()
    assert "Latencies: service time, closed loop" in text and "…" not in text and "behind" in text
    assert sentence(below) in " ".join(text.split())


def test_the_first_screen_has_it_in_the_place_of_the_closed_loops(below):
    first = render(below).split('class="first"')[1].split('<nav class="legend"')[0]
    assert "p99 at<br>50%" in first and "p99<br>" not in first.split("Latency below capacity")[0]
    assert "Latency below capacity" in first and "in an open loop at a share" in first


def test_without_shares_there_is_nothing(plain):
    run_document = document(plain)
    assert (at_shares(run_document), sentence(run_document)) == ([], None)
    assert "Latency below capacity" not in render(run_document)
