"""Rate searches have a section each, if there are any."""

from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part
from dbdyno.report.sections.find_rate import part


def test_it_applies_to_runs_that_searched(run_document):
    assert part(Page(run_document)) is None
    assert part(Page(run_document | {"find_rate": [{"sentence": "…"}]})) == Part()
