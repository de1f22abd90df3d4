"""How to repeat the run."""

from __future__ import annotations

from dbdyno.report.core.section import Section, always

SECTION = Section("repeat.html.j2", always)
