"""Systems and trials that were not measured, or not to their end."""

from __future__ import annotations

from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.words import not_complete


def part(page: Page) -> Part | None:
    """Return what is missing, each with the reason."""
    missing = not_complete(page.document)
    return Part({"missing": missing}) if missing else None


SECTION = Section("missing.html.j2", part)
