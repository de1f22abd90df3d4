"""Flame graphs of the stacks that were sampled."""

from __future__ import annotations

from dbdyno.report.core.page import Page
from dbdyno.report.core.section import Part, Section


def part(page: Page) -> Part | None:
    """Return the flame graphs, whose functions lack names in them, and what processors counted meanwhile."""
    if not page.flames:
        return None
    return Part({"flames": page.flames, "nameless": page.nameless, "counters": page.counters})


SECTION = Section("stacks.html.j2", part)
