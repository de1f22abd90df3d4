"""Each section stands in the report once, and no two draw a plot of the same name."""

from collections import Counter

from dbdyno.report.core.page import Page
from dbdyno.report.html import environment_of_templates, parts_of
from dbdyno.report.sections.order import FIRST, SECTIONS


def test_each_section_has_its_template():
    assert len(set(map(id, (*FIRST, *SECTIONS)))) == len(FIRST) + len(SECTIONS)
    for section in (*FIRST, *SECTIONS):
        assert environment_of_templates().get_template(section.template)


def test_no_plot_is_drawn_twice(run_document):
    drawn = Counter(id for _, part in parts_of(Page(run_document), SECTIONS) for id in part.figures)
    assert drawn and set(drawn.values()) == {1}


def test_titles_are_of_plots_with_a_place_of_their_own():
    titled = Counter(id for section in SECTIONS for id in section.titles)
    assert titled and set(titled.values()) == {1}
