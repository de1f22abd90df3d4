"""The checks: rows read, invariants afterwards, the first errors word for word."""

from __future__ import annotations

from dbdyno.report.core.section import Section, always

SECTION = Section("checks.html.j2", always)
