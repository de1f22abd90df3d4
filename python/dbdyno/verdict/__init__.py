"""What limited a trial: pure functions of records and observations, no server (docs/statistics.md, section 5)."""
