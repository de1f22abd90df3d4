"""What the sections of a report have in common is that of the run."""

from dbdyno.report.core.page import Page


def test_the_page_begins_with_the_headlines_system_and_load(shown):
    page = Page(shown)
    series, trial = page.first
    assert series.label == shown["headline"]["leader"] == trial["label"]
    assert page.context["load_labels"][page.context["chosen"]] == str(trial["clients"])
    assert page.context["chosen_series"] == series.place


def test_a_run_of_nothing_begins_with_nothing(shown):
    page = Page(shown | {"trials": [], "headline": shown["headline"] | {"trials": {}}})
    assert page.first is None and page.series == []
    assert (page.context["chosen"], page.context["trial_count"]) == (-1, 0)


def test_times_of_an_open_loop_are_response_times(opened, shown):
    assert Page(opened).time_name == "response time" and Page(opened).context["open"]
    assert Page(shown).time_name == "service time" and not Page(shown).context["open"]
