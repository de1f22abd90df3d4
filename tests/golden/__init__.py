"""Recorded runs of every kind, and what dbdyno says of each: it stays as it is unless someone means to change it."""
