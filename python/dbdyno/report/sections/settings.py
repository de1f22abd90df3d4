"""The settings and versions of each system."""

from __future__ import annotations

from dbdyno.report.core.section import Section, if_systems

SECTION = Section("settings.html.j2", if_systems)
