"""The section of stalls names the worst, of runs of clients."""

from dbdyno.report.core.page import Page
from dbdyno.report.sections.stalls import part


def test_the_worst_stall_is_named(shown):
    assert part(Page(shown)).content["worst"].startswith("Longest stall: mariadb, 4 clients, 8 s")
    assert part(Page(shown, clients_loaded=False)) is None
