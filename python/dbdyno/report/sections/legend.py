"""The legend: it shows or hides a system in every plot."""

from __future__ import annotations

from dbdyno.report.core.section import Section, if_systems

SECTION = Section("legend.html.j2", if_systems)
