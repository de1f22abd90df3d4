"""Judges what limited a trial: pure functions of records and observations (docs/statistics.md, section 5)."""
