"""The files of `dbdyno ci`: JUnit as its schema has it, one row for Otava, and nothing secret."""

import csv
import io
import json
from dataclasses import replace

import pytest

from dbdyno.export.ci import ci_files, ci_junit
from dbdyno.report.ci.decisions import NOT_JUDGED, ci_document, decisions
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    base, head = replace(SYSTEMS[2], label="base"), replace(SYSTEMS[2], label="head", base_us=1350, peak_per_s=6000)
    return read_run(write_run(tmp_path_factory.mktemp("ci") / "run", (base, head), clients=(4,), repeats=4))


def test_a_slower_comparison_is_a_failure_one_without_an_answer_an_error_or_skipped(run, junit):
    (slower,) = decisions(run, 0.05, [], 1)
    others = [replace(slower, outcome=outcome, reason="why") for outcome in ("same", "unstable", NOT_JUDGED)]
    root = junit(ci_junit([slower, *others]))
    (suite,) = root
    assert (root.tag, suite.tag, suite.get("tests")) == ("testsuites", "testsuite", "4")
    assert (suite.get("failures"), suite.get("skipped"), suite.get("errors")) == ("1", "1", "1")
    assert (suite[0].find("failure").get("type"), suite[3].find("error").get("type")) == ("slower", NOT_JUDGED)
    tags = [[child.tag for child in case if child.tag != "system-out"] for case in suite]
    assert tags == [["failure"], [], ["skipped"], ["error"]]
    assert suite[0].get("name") == "game, 4 clients" and float(suite[0].get("time")) > 0


def test_four_files_without_passwords(run):
    decided = decisions(run, 0.05, [], 1)
    secret = "mysql://user:hunter2@host/db"
    document = ci_document(decided, 0.05, [f"{secret} is busy"], 1)
    files = ci_files(decided, [run], document, (secret, "b"))
    assert list(files) == ["ci.json", "ci.md", "junit.xml", "otava.csv"]
    assert "hunter2" not in "".join(files.values())
    assert json.loads(files["ci.json"])["comparisons"][0]["outcome"] == "slower"
    header, row = csv.reader(io.StringIO(files["otava.csv"]))
    assert len(header) == len(row) and "base game c4 throughput_per_s" in header
