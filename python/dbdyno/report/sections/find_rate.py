"""The steps of each rate search."""

from __future__ import annotations

from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, Section


def part(page: Page) -> Part | None:
    """Return an empty part if the run searched for a rate: its template reads the page alone."""
    return Part() if page.document["find_rate"] else None


SECTION = Section("find_rate.html.j2", part)
