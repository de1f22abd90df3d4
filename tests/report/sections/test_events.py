"""The table of events: what each cost, over repetitions with an interval, and marks in the plots over time."""

import json

import pytest
from rich.console import Console

from dbdyno.report.cautions import cautions
from dbdyno.report.core.page import Page
from dbdyno.report.core.recordings import Recordings, recordings_of
from dbdyno.report.core.series import series_of
from dbdyno.report.document import document
from dbdyno.report.html import page_of
from dbdyno.report.sections import events, over_time
from dbdyno.report.summary import Places, print_summary
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


def stated(start, /, **keys):
    event = {
        "name": "backup",
        "at": 5,
        "action": "backup",
        "if_fails": "error",
        "state": "ok",
        "reason": None,
        "began_unix_s": start + 5.0,
        "ended_unix_s": start + 7.5,
        "exit_status": 0,
        "output": ["done"],
    }
    return event | keys


@pytest.fixture
def disturbed(tmp_path):
    """Return a function that gives a run of one system, two repetitions, and the events that are made of each trial."""

    def make(make_events):
        folder = write_run(tmp_path / "disturbed", SYSTEMS[2:3], clients=(2,), seconds=12, repeats=2)
        for number, trial in enumerate(read_run(folder).trials):
            path = trial.folder / "trial.json"
            about = json.loads(path.read_text())
            about["events"] = make_events(number, trial.recorded.run_began_unix_s)
            path.write_text(json.dumps(about))
        return read_run(folder)

    return make


def test_an_event_has_its_times_and_its_cost(disturbed):
    run_document = document(disturbed(lambda number, began: [stated(began, ended_unix_s=began + 7.5 + number)]))
    first, second = (trial["events"][0] for trial in run_document["trials"])
    assert (first["begin_s"], first["end_s"], first["duration_s"]) == (5.0, 7.5, 2.5) and second["duration_s"] == 3.5
    assert (first["way"], first["text"], first["output"]) == ("action", "backup", ["done"])
    # Nothing happened to the store.
    assert abs(first["during_change"]) < 0.2 and first["without_service_s"] is None
    (summary,) = run_document["events"]
    lasted = summary["figures"]["duration_s"]
    assert (lasted["mean"], lasted["repetitions"], summary["usable"]) == (3.0, 2, 2) and lasted["low"] < 2.5
    (row,) = events.rows(run_document)
    assert len(row) == len(events.HEADINGS) and row[2] == "backup at 5 s" and row[3] == "3.00 ± 6.35"
    json.dumps(run_document["events"])


def test_an_event_that_failed_is_named_and_counts_in_no_figure(disturbed):
    def make(number, began):
        wrong = {"state": "cut", "reason": "it still ran when the trial ended", "ended_unix_s": None}
        return [stated(began, **(wrong if number else {}))]

    run_document = document(disturbed(make))
    (summary,) = run_document["events"]
    assert (summary["trials"], summary["usable"], summary["state"]) == (2, 1, "ok, cut")
    assert summary["figures"]["duration_s"]["low"] is None
    (sentence,) = events.failures(run_document["trials"])
    assert "the event 'backup' at 5 s: cut: it still ran" in sentence
    assert any(sentence in caution for caution, _ in cautions(run_document))


def test_an_event_that_was_not_begun_has_no_figures(disturbed):
    run_document = document(disturbed(lambda _, began: [stated(began, state="not begun", began_unix_s=None)]))
    event = run_document["trials"][0]["events"][0]
    assert (event["begin_s"], event["during_per_s"], event["duration_s"]) == (None, None, None)
    assert events.rows(run_document)[0][3:6] == ["–", "–", "–"]


def test_after_ends_where_the_next_event_begins(disturbed):
    later = {"name": "vacuum", "at": 9}
    run = disturbed(
        lambda _, began: [stated(began), stated(began, began_unix_s=began + 9, ended_unix_s=began + 10, **later)]
    )
    first, second = document(run)["trials"][0]["events"]
    assert first["before_per_s"] == second["before_per_s"] and first["after_per_s"] != second["after_per_s"]


def test_operations_that_an_outage_failed_are_no_fault(disturbed):
    run_document = document(disturbed(lambda _, began: [stated(began, action="kill", name="kill")]))
    assert all(map(events.has_outage, run_document["trials"]))
    failing = [dict(trial, errors=7, errors_by_kind={"disconnected": 7}) for trial in run_document["trials"]]
    assert not any("operations failed" in caution for caution, _ in cautions(dict(run_document, trials=failing)))
    normal = [dict(trial, events=[]) for trial in failing]
    assert any("operations failed" in caution for caution, _ in cautions(dict(run_document, trials=normal)))


def test_plots_over_time_mark_it(disturbed):
    run = disturbed(lambda _, began: [stated(began)])
    run_document = document(run)
    (figures,) = over_time.by_load(series_of(run_document)).values()
    lines = [shape for shape in figures["timeline"]["layout"]["shapes"] if shape["type"] == "line"]
    assert [(line["x0"], line["label"]["text"]) for line in lines] == [(5, "backup")]
    (single,) = over_time.by_trial(series_of(run_document), recordings_of(run)).values()
    assert [(shade["x0"], shade["x1"]) for shade in single["events"]] == [(5.0, 7.5)]
    page = page_of(run)
    assert "<h2>Events</h2>" in page and "<td class=left>backup at 5 s</td>" in page and "Upright lines: events" in page


@pytest.mark.parametrize("width", [80, 200])
def test_the_terminal_shows_it(disturbed, width):
    console = Console(record=True, width=width)
    run = disturbed(lambda _, began: [stated(began)])
    print_summary(run, Places("last", None), console)
    said = console.export_text()
    assert "backup at 5 s" in said and "no service" in said and max(map(len, said.splitlines())) <= width


def test_a_run_without_events_has_no_section(plain):
    run_document = document(plain)
    assert "events" not in run_document and events.part(Page(run_document, Recordings())) is None
