"""Where a run's load is issued beside this host: who is there, how they are reached, and what they are told."""
