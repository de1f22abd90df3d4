"""Every trial, as numbers."""

from __future__ import annotations

from dbdyno.report.core.section import Section, if_clients

SECTION = Section("trials.html.j2", if_clients)
