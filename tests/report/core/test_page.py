"""The sections of a report share the facts of the run."""

from dbdyno.report.core.page import Page


def test_the_page_begins_with_the_headlines_system_and_load(run_document):
    page = Page(run_document)
    series, trial = page.first
    assert series.label == run_document["headline"]["leader"] == trial["label"]
    assert page.context["load_labels"][page.context["chosen"]] == str(trial["clients"])
    assert page.context["chosen_series"] == series.index


def test_a_run_of_nothing_begins_with_nothing(run_document):
    page = Page(run_document | {"trials": [], "headline": run_document["headline"] | {"trials": {}}})
    assert page.first is None and page.series == []
    assert (page.context["chosen"], page.context["trial_count"]) == (-1, 0)


def test_times_of_an_open_loop_are_response_times(opened, run_document):
    assert Page(opened).time_name == "response time" and Page(opened).context["open"]
    assert Page(run_document).time_name == "service time" and not Page(run_document).context["open"]
