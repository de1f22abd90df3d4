"""What limited a trial (METHODS §5): pure functions of what was recorded and observed, never of a server."""
