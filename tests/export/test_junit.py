"""A JUnit report counts what failed, says why, and stays XML whatever a server said."""

import json
from dataclasses import replace

import pytest
from xmlschema import XMLSchemaValidationError

from dbdyno.export.junit import to_junit
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture
def suite_of(junit):
    """Return a function that gives the only suite of a run's report."""
    return lambda run: junit(to_junit([replace(run, about={**run.about, "skipped": []})])).find("testsuite")


def counts(suite):
    return tuple(int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped"))


def state(folder, **keys):
    file = folder / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))
    return read_run(folder)


def test_trials_that_ran_are_tests_that_passed(run, suite_of):
    suite = suite_of(run)
    assert counts(suite) == (len(run.trials), 0, 0, 0)
    names = [case.get("name") for case in suite]
    assert "mariadb, 1 client" in names and "redis, 2 clients, 800/s" in names
    assert len(set(names)) == len(names)
    assert "transactions/s" in suite[0].find("system-out").text


def test_what_failed_is_an_error_and_what_was_not_reached_is_skipped(faulty, suite_of):
    suite = suite_of(faulty)
    assert counts(suite) == (3, 0, 1, 1)
    (error,) = suite.iter("error")
    assert error.get("message") == faulty.trials[1].reason and error.get("type") == "failed"


def test_failed_operations_are_a_failure_unless_a_limit_allows_them(tmp_path, suite_of):
    folder = write_run(tmp_path / "run", SYSTEMS[:1], (1, 2), 10, faults={("sqlite", 2): "outage"})
    (failure,) = suite_of(read_run(folder)).iter("failure")
    assert failure.get("message").endswith("operations failed")
    limit = {"limit": "errors < 50%", "figure": "errors", "value": 0.1, "unit": "share", "holds": True}
    recorded_run = state(
        folder, limits=[limit | {"trial": name} for name in json.loads((folder / "run.json").read_text())["trials"]]
    )
    assert counts(suite_of(recorded_run)) == (2, 0, 0, 0)


def test_a_broken_limit_is_a_failure_of_its_trial(tmp_path, suite_of):
    folder = write_run(tmp_path / "run", SYSTEMS[:1], (1, 2), 2)
    name = read_run(folder).trials[1].name
    limit = {"trial": name, "limit": "p99 < 1ms", "figure": "p99", "value": 2000.0, "unit": "us", "holds": False}
    suite = suite_of(state(folder, limits=[limit]))
    (failure,) = suite[1].iter("failure")
    assert counts(suite) == (2, 1, 0, 0) and failure.get("message") == "p99 < 1ms: 2 ms"


def test_a_system_that_was_left_out_is_skipped(tmp_path, junit):
    folder = write_run(tmp_path / "run", SYSTEMS[:1], (1,), 2)
    recorded_run = state(folder, skipped=[{"system": "redis", "reason": "not\x00 installed & <gone>"}])
    suite = junit(to_junit([recorded_run]))[0]
    assert counts(suite) == (2, 0, 0, 1)
    assert suite[1].find("skipped").get("message") == "not� installed & <gone>"


def test_several_runs_are_several_suites(run, faulty, junit):
    root = junit(to_junit([run, faulty]))
    assert [suite.get("name") for suite in root] == [run.facts.run, faulty.facts.run]
    assert counts(root) == tuple(map(sum, zip(*map(counts, root), strict=True)))


def test_the_schema_sees_a_report_that_is_none(run, junit):
    text = to_junit([run])
    for right, wrong in (
        (' classname="', ' kind="'),
        ("<testcase", "<case"),
        (' tests="', ' tests="no'),
        ("system-out", "o"),
    ):
        with pytest.raises((XMLSchemaValidationError, SyntaxError)):
            junit(text.replace(right, wrong))
