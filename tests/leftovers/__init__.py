"""The guards' knowledge of a run, and how they remove it."""
