"""All that a run makes on this host and must not leave there, in a journal that outlives it; standard library only."""
