"""The other hosts that issue a run's load: which are there, how they are reached, and what they are sent."""
