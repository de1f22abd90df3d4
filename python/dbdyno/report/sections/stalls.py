"""Stalls: how even each trial was, second by second."""

from __future__ import annotations

from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, Section
from dbdyno.report.core.steadiness import steady_class
from dbdyno.report.core.words import worst_stall


def part(page: Page) -> Part | None:
    """Return the trial that stalled longest, and what the tables need."""
    if not (page.clients_loaded and page.series):
        return None
    return Part({"worst": worst_stall(page.trials), "steady_class": steady_class})


SECTION = Section("stalls.html.j2", part)
