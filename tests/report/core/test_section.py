"""A section applies if what it is about was measured."""

from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, always, if_clients, if_systems


def test_which_runs_a_section_applies_to(run_document):
    nothing, queries, load = (
        Page(run_document | {"trials": []}),
        Page(run_document, clients_loaded=False),
        Page(run_document),
    )
    assert [always(page) for page in (nothing, queries, load)] == [Part()] * 3
    assert [if_systems(page) for page in (nothing, queries, load)] == [None, Part(), Part()]
    assert [if_clients(page) for page in (nothing, queries, load)] == [None, None, Part()]
