"""A few cases of each part of the torture suite, from a fixed seed; all of it is `make test-torture`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torture.__main__ import load_parts
from torture.part import Part, Report, dice
from torture.table import BEGIN, END, write_counts

SEED = 7
SLOW = ("inputs", "hostile")


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "part",
    [pytest.param(part, marks=[pytest.mark.systems] * (part.name in SLOW), id=part.name) for part in load_parts(())],
)
def test_nothing_is_found_in_a_few_cases(part):
    # A separate process, because a part takes its own namespaces and adopts orphans.
    command = [sys.executable, "-m", "torture", part.name, "--seed", str(SEED), "--count", str(part.short)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert f"{part.name}: " in ended.stdout


def test_a_case_draws_the_same_alone_as_among_others():
    assert [dice(1, case).random() for case in range(3)][2] == dice(1, 2).random() != dice(2, 2).random()


def test_findings_are_counted_by_group_and_say_how_to_repeat_them(capsys):
    report = Report("part", seed=5)
    report.case("store", 3)
    report.finding("store", 2, "something is left")
    report.finding("other", 4, "something else is left")
    assert list(report.rows()) == [("other", 0, 1), ("store", 3, 1)]
    assert "repeat: python -m torture part --seed 5 --case 2" in capsys.readouterr().err


def report_of(seed, cases, name="part"):
    report = Report(name, seed, quiet=True)
    report.case("store", cases)
    return Part(name, "cases", 1, 1, lambda *_: None), report, 90.0


def test_a_row_takes_the_place_of_that_of_its_part_and_seed(tmp_path):
    document = tmp_path / "counts.md"
    document.write_text(f"before\n{BEGIN}\nNo full run yet.\n{END}\nafter\n")
    write_counts(document, [report_of(seed=1, cases=1200), report_of(seed=1, cases=70, name="other")])
    write_counts(document, [report_of(seed=2, cases=30)])
    write_counts(document, [report_of(seed=1, cases=4)])
    text = document.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "No full run" not in text
    rows = [line for line in text.splitlines() if line.startswith(("| part", "| other"))]
    assert [row.split(" | ")[:6] for row in rows] == [
        ["| other", "1", "store", "70 cases", "0", "1.5"],
        ["| part", "1", "store", "4 cases", "0", "1.5"],
        ["| part", "2", "store", "30 cases", "0", "1.5"],
    ]


def test_what_is_left_out_is_a_row_with_the_reason(tmp_path):
    document = tmp_path / "counts.md"
    document.write_text(f"{BEGIN}{END}")
    part, report, took_s = report_of(seed=1, cases=1)
    report.skip("other", "it is not installed")
    write_counts(document, [(part, report, took_s)])
    assert "| part | 1 | other | left out: it is not installed | | | |" in document.read_text()


def test_a_document_without_the_marks_is_refused(tmp_path):
    document = tmp_path / "counts.md"
    document.write_text("no marks\n")
    with pytest.raises(ValueError, match="has no place for the counts"):
        write_counts(document, [report_of(seed=1, cases=1)])
