"""Flame graphs have a section if there are any."""

from dbdyno.report.core.page import Page
from dbdyno.report.sections.stacks import part


def test_it_applies_if_stacks_were_sampled(run_document):
    assert part(Page(run_document)) is None
    flames = [("001: server", "<svg/>")]
    assert part(Page(run_document, flames=flames)).content == {"flames": flames, "nameless": (), "counters": ()}
